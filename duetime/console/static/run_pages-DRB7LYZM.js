import{a as W,b as N}from"./chunk-RPY65SCY.js";import{a as D}from"./chunk-GZBACDI2.js";import{e as T}from"./chunk-EIGJSXCB.js";import{a as y,b as k}from"./chunk-V7V6EJ3C.js";import"./chunk-XQRFPDJE.js";import{K as H,Na as f,Pa as d,Q as E,T as X,W as I,X as x,_ as A,aa as h,b as Q,c as K,ca as C,d as Y,da as Z,ea as u,ga as L,i as a,ja as p,ka as l,la as c,m as O,ma as tt,na as et,p as z,qa as q,ra as at,s as v,wa as g,ya as U,za as $}from"./chunk-KGWSR3YK.js";var w=["DEAD","CANCELLED","EXPIRED"],ut=["SUCCEEDED","SKIPPED",...w],st=t=>ut.includes(t.status);function _(t,e){let o=new Set([e]),s;do{s=o.size;for(let n of t)n.needs.some(r=>o.has(r))&&o.add(n.name)}while(o.size>s);return t.filter(n=>n.name!==e&&o.has(n.name)).map(n=>n.name)}function S(t,e){return e.status!=="BLOCKED"?[]:t.filter(o=>e.needs.includes(o.name)&&!st(o)).map(o=>o.name)}function nt(t){let e=t.filter(n=>!st(n)&&n.status!=="BLOCKED"),o=e.length?e:t.filter(n=>w.includes(n.status)),s=new Set(t.filter(({status:n})=>["BLOCKED","SKIPPED"].includes(n)).map(({name:n})=>n));return o.map(n=>({step:n,holds:_(t,n.name).filter(r=>s.has(r))})).sort((n,r)=>r.holds.length-n.holds.length)}function ot(t){let e=new Map,o=new Map(t.map(r=>[r.name,r])),s=r=>{if(!e.has(r.name)){e.set(r.name,0);let i=r.needs.map(b=>o.get(b)).filter(Boolean);e.set(r.name,i.length?1+Math.max(...i.map(s)):0)}return e.get(r.name)},n=Math.max(0,...t.map(s))+1;return t.map(r=>({step:r,depth:r.finally?n:s(r)})).sort((r,i)=>r.depth-i.depth)}var F={width:188,height:56};function P({steps:t,chosen:e,label:o}){let s=wt(t);if(!s)return a`<${Z} />`;let{plan:n,pathOf:r}=s,i=new Map(t.map(m=>[m.name,m])),b=({from:m})=>i.get(m)?.status==="SUCCEEDED";return a`
    <div class="graph scroll" role="group" aria-label=${o} tabindex="0"><div class="canvas" style=${{width:`${n.width}px`,height:`${n.height}px`}}>
      <svg viewBox=${`0 0 ${n.width} ${n.height}`} width=${n.width} height=${n.height} role="img" aria-label=${`${o}: what needs what`}>
        <title>${`${o}: what needs what`}</title>
        <defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 .5 7 4 0 7.500z" /></marker></defs>
        ${n.edges.map(m=>a`<path key=${`${m.from} ${m.to}`} class=${b(m)?"past":""} d=${r(m.points)} marker-end="url(#arrow)"><title>${`${m.to} needs ${m.from}`}</title></path>`)}
      </svg>
      <ul>${n.nodes.map(({name:m,x:pt,y:dt})=>i.has(m)&&a`
        <li key=${m} style=${{left:`${pt}px`,top:`${dt}px`,width:`${F.width}px`,height:`${F.height}px`}}><${ft} step=${i.get(m)} steps=${t} chosen=${m===e} /></li>`)}</ul>
    </div></div>`}function ft({step:t,steps:e,chosen:o}){let s=S(e,t);return a`
    <a href=${c({step:o?"":t.name})} class=${`node tone-${U(t.status)}`} aria-current=${o?"true":void 0} title=${t.name}>
      <span class="node-name">${t.name}</span>
      <span class="node-state">${t.status?a`<${$} status=${t.status} />`:R(t)}${ht(t,s)}</span>
    </a>`}function ht(t,e){return e.length?a`<span class="quiet">for ${e.join(", ")}</span>`:t.attempt>1?a`<span class="quiet">attempt ${t.attempt}</span>`:t.run_id&&a`<span class="quiet"><${I} name="queue" /><span class="unseen">has a run of its own</span></span>`}function R(t){let e=t.target?t.target.handler??t.target.type:t.wait?"wait":typeof t.workflow=="string"?t.workflow:"workflow";return a`<span class="quiet">${e}${t.map?", for each item":""}</span>`}function wt(t){let e=JSON.stringify(t.map(({name:n,needs:r,finally:i})=>[n,r,i])),[o,s]=Q(null);return K(()=>{let n=!0;return import("./graph-ST5Q6PBI.js").then(({pathOf:r,placed:i})=>n&&s({plan:i(t,F),pathOf:r})),()=>n=!1},[e]),o}var vt={condition:"its condition was not met",upstream:"a step before it failed",stopped:"the run was stopped"};function rt({run:t,step:e,retry:o}){let s=S(t.steps,e),n=_(t.steps,e.name),r=[["Needs",e.needs.length?e.needs.join(", "):e.finally?"all other steps to end":"nothing"],["Before",n.length?n.join(", "):"nothing"],s.length&&["Waits for",s.join(", ")],e.reason&&["Why",vt[e.reason]??e.reason],["Attempt",e.attempt||"–"],["Started",a`<${d} at=${e.started_at} as="ms" />`],["Took",e.started_at&&e.finished_at?f(Date.parse(e.finished_at)-Date.parse(e.started_at)):"–"],e.task_id&&["Task",a`<a href=${l(`/tasks/${e.task_id}`)}><code>${e.task_id}</code></a>`]].filter(Boolean);return a`
    <section class="panel step-detail" aria-label=${`Step ${e.name}`}>
      <div class="head"><h2>${e.name}</h2><${$} status=${e.status} />
        <span class="row">${o&&w.includes(e.status)&&a`<button class="small primary" onClick=${()=>o(e.name)}>Retry from here…</button>`}
          <a class="plain" href=${c({step:""})} aria-label="Close the step"><${I} name="cross" /></a></span></div>
      <div class="body stack">
        <dl class="facts">${r.map(([i,b])=>a`<dt key=${i}>${i}</dt><dd>${b}</dd>`)}</dl>
        ${e.error&&a`<${gt} error=${e.error} />`}
        ${e.run_id&&a`<${yt} run=${t} step=${e} />`}
      </div>
    </section>`}function gt({error:t}){return a`
    <div class="step-error"><p><strong>${t.type}</strong>: ${t.message}</p>
      ${t.traceback&&a`<details><summary>Traceback</summary><div class="code"><pre tabindex="0">${t.traceback}</pre><${A} text=${t.traceback} name="traceback" /></div></details>`}</div>`}function yt({run:t,step:e}){let o=g(`runs/${e.run_id}`);return a`<${u} read=${o} rows=${2}>${s=>s.map?a`<${St} run=${t} step=${e} />`:a`<p><a href=${l(`/runs/${s.id}`)}>Open its run</a> <${$} status=${s.status} /></p>`}</${u}>`}var kt=[{id:"index",head:"Item",cell:({index:t,task_id:e})=>e?a`<a href=${l(`/tasks/${e}`)}>${t}</a>`:t},{id:"status",head:"Status",class:"bare",cell:({status:t})=>a`<${$} status=${t} />`},{id:"attempt",head:"Attempt",class:"number",cell:({attempt:t})=>t||"–"},{id:"took",head:"Took",class:"number",cell:({started_at:t,finished_at:e})=>t&&e?f(Date.parse(e)-Date.parse(t)):"–"},{id:"error",head:"Error",cell:({error:t,reason:e})=>t?.message??e??""}];function St({run:t,step:e}){let o=y(`runs/${t.id}/steps/${encodeURIComponent(e.name)}/items`,{limit:50},({index:s})=>String(s));return a`<h3>Items</h3><${k} list=${o} columns=${kt} caption=${`Items of ${e.name}`} empty=${a`<${h} title="The list was empty" />`} />`}var bt=8;function j({steps:t,chosen:e,label:o}){return a`
    <ol class="steps" aria-label=${o}>${ot(t).map(({step:s,depth:n})=>a`
      <li key=${s.name} class=${`depth-${Math.min(n,bt)}`}>
        <a href=${c({step:s.name===e?"":s.name})} aria-current=${s.name===e?"true":void 0}>${s.name}</a>
        ${s.status?a`<${$} status=${s.status} />`:R(s)}
        <span class="quiet">${Et(t,s)}</span>
      </li>`)}</ol>`}function Et(t,e){let o=S(t,e);return o.length?`waits for ${o.join(", ")}`:e.status==="SKIPPED"?e.reason??"":e.finished_at&&e.started_at?f(Date.parse(e.finished_at)-Date.parse(e.started_at)):e.needs.length&&!e.status?`after ${e.needs.join(", ")}`:e.finally?"after all others":""}var xt=["RUNNING","CANCELLING","SUCCEEDED","FAILED","CANCELLED"],it={type:"python",handler:"duetime.hello"},B=[{name:"first",target:it},{name:"second",target:it,needs:["first"]}],Ct={method:"POST",path:"runs",body:JSON.stringify({steps:B})},Lt=[{id:"status",head:"Status",class:"bare",cell:t=>a`<${$} status=${t.status} />`},{id:"name",head:"Run",class:"main",cell:t=>a`<a href=${l(`/runs/${t.id}`)}>${J(t)}</a><span class="sub">${M(t)} · ${t.namespace}</span>`},{id:"steps",head:"Steps",cell:t=>a`<${V} counts=${t.counts} />`},{id:"created",head:"Started",cell:t=>a`<${d} at=${t.created_at} />`},{id:"took",head:"Took",class:"number",cell:t=>G(t)},{id:"error",head:"Error",cell:({error:t})=>t&&a`<code>${t.step}</code><span class="sub">${t.type}</span>`}];function Dt(){let t=p.value.get("status")??"",e=p.value.get("workflow")??"",o=y("runs",{namespace:q.value,status:t,workflow:e});return a`
    <div class="page-head"><h1>Runs</h1>
      <label class="key-field"><span class="quiet">of the workflow</span><input value=${e} placeholder="any" maxlength="64" spellcheck=${!1} onChange=${({currentTarget:s})=>et({workflow:s.value.trim()})} /></label>
      <div class="actions"><a class="button" href=${l("/workflows")}>Workflows</a></div>
    </div>
    <nav class="chips list-chips" aria-label="Status">${["",...xt].map(s=>a`
      <a key=${s} href=${c({status:s})} aria-current=${t===s?"true":void 0}>${s.toLowerCase()||"all"}</a>`)}</nav>
    <${k} list=${o} columns=${Lt} caption="Runs" href=${({id:s})=>l(`/runs/${s}`)}
      empty=${t||e?a`<${h} title="No run matches"><a href=${c({status:"",workflow:""})}>Show all</a></${h}>`:a`<${h} title="No workflow has run yet" command=${T(Ct)} />`} />`}var J=t=>t.name||t.workflow||t.id;function M(t){return t.workflow?`${t.workflow}@${t.version}`:t.map?`map of ${t.map.step}`:"without a workflow"}var G=t=>f((t.finished_at?Date.parse(t.finished_at):H.value)-Date.parse(t.run_at??t.created_at));function V({counts:t}){let e=Object.values(t).reduce((s,n)=>s+n,0),o=Object.entries(t).map(([s,n])=>`${n} ${s.toLowerCase().replaceAll("_"," ")}`).join(", ");return a`
    <span class="counts" title=${o}>
      <span class="bar" aria-hidden="true">${Object.entries(t).map(([s,n])=>a`<span key=${s} class=${`tone-${s==="UNDER_WAY"?"blue":U(s)}`} style=${{flexGrow:n}}></span>`)}</span>
      <span class="quiet">${t.SUCCEEDED??0} of ${v(e,"step")}</span><span class="unseen">: ${o}</span>
    </span>`}var Nt=250,_t=matchMedia("(max-width: 720px)");function Rt({id:t}){let e=g(`runs/${t}`,{},{load:W});return X({topic:"tasks",filter:{run_id:t}},e.reload,Nt),a`<${u} read=${e}>${o=>a`<${Ot} run=${o} reload=${e.reload} />`}</${u}>`}var mt=({status:t})=>["SUCCEEDED","FAILED","CANCELLED"].includes(t);function Ot({run:t,reload:e}){let o=p.value.get("view")??(_t.matches?"list":"graph"),s=t.steps.find(({name:i})=>i===p.value.get("step")),n=E("operate")&&t.status==="FAILED"&&!t.parent_task_id&&!t.map?i=>At(t,i,e):null,r={steps:t.steps,chosen:s?.name??null,label:`Steps of ${J(t)}`};return a`
    <div class="page-head">
      <${$} status=${t.status} /><h1>${t.name||t.workflow||"Run"}</h1>
      <div class="actions"><${It} run=${t} retry=${n} reload=${e} /></div>
      <p class="subline"><span>${t.workflow?a`<a href=${l(`/workflows/${t.workflow}`,{ns:t.namespace,version:t.version})}>${M(t)}</a>`:M(t)}</span>
        <span class="quiet">namespace ${t.namespace}</span>
        <span class="quiet">started <${d} at=${t.run_at} />, ${mt(t)?"took":"for"} ${G(t)}</span>
        ${t.attempt>1&&a`<span class="quiet">attempt ${t.attempt}</span>`}
        ${t.parent_task_id&&a`<a href=${l(`/tasks/${t.parent_task_id}`)}>the task that waits for it</a>`}
        <span class="quiet"><code>${t.id}</code><${A} text=${t.id} name="id" /></span></p>
    </div>
    <div class="stack">
      <${Tt} run=${t} />
      ${t.map?a`<${C}>This run has the items of the step <strong>${t.map.step}</strong>. <a href=${l(`/runs/${t.map.run_id}`,{step:t.map.step})}>Open the run that it belongs to</a></${C}>`:a`
        <div class="panel">
          <div class="head"><h2>Steps</h2><${V} counts=${t.counts} />
            <nav class="row" aria-label="View">${["graph","list"].map(i=>a`<a key=${i} class="button small" href=${c({view:i})} aria-current=${o===i?"true":void 0}>${i}</a>`)}</nav></div>
          ${o==="graph"?a`<${P} ...${r} />`:a`<${j} ...${r} />`}
        </div>`}
      ${s&&a`<${rt} key=${s.name} run=${t} step=${s} retry=${n} />`}
      <div class="grid">
        <${lt} name="Input" text=${N(t,"input")} /><${lt} name="Result" text=${N(t,"result")} note=${t.not_shown?.result} />
      </div>
    </div>`}function lt({name:t,text:e,note:o}){return a`<section class="panel"><div class="head"><h2>${t}</h2></div><div class="body">
    ${o?a`<p class="quiet">${o}</p>`:e==="null"||e===null?a`<span class="quiet">none</span>`:a`<${D} text=${e} name=${t.toLowerCase()} />`}</div></section>`}function Tt({run:t}){let e=nt(t.steps);if(!e.length||t.status==="SUCCEEDED")return null;let o=w.includes(e[0].step.status);return a`
    <${C} tone=${o?"red":"blue"} icon=${o?"alert":"hourglass"}>
      <ul class="holdups">${e.slice(0,3).map(({step:s,holds:n})=>a`<li key=${s.name}>
        <a href=${c({step:s.name})}><strong>${s.name}</strong></a>${" "}
        ${o?a`is ${s.status.toLowerCase()}${s.error&&`: ${s.error.type}: ${s.error.message}`}`:`is ${s.status.toLowerCase()}${s.attempt>1?`, attempt ${s.attempt}`:""}`}
        ${n.length>0&&a`. ${o?"Not run for it":"Waiting for it"}: ${ct(n)}`}</li>`)}
        ${e.length>3&&a`<li>and ${v(e.length-3,"other step")}</li>`}</ul></${C}>`}var ct=t=>t.length>6?`${t.slice(0,6).join(", ")} and ${v(t.length-6,"other")}`:t.join(", ");function It({run:t,retry:e,reload:o}){if(!E("operate"))return null;let s=t.steps.filter(({status:r})=>w.includes(r)),n=()=>L({title:t.status==="CANCELLING"?"Stop the last steps too?":"Cancel this run?",text:a`<p>No step starts any more, and those that run are asked to stop. ${t.status==="CANCELLING"?"":"Then the steps marked finally run."}</p>`,action:"Cancel the run",danger:!0,run:async()=>{await z(`runs/${t.id}`),x("Cancelling"),await o()}});return a`
    ${e&&a`<button class="primary" onClick=${()=>e(s.length===1?s[0].name:null)}>${s.length===1?`Retry from ${s[0].name}…`:"Retry what failed…"}</button>`}
    ${!mt(t)&&a`<button onClick=${n}>Cancel…</button>`}`}function At(t,e,o){let s=t.steps.filter(({status:i})=>w.includes(i)).map(i=>i.name),n=e?[e]:s,r=[...new Set(n.flatMap(i=>[i,..._(t.steps,i)]))];return L({title:e?`Retry from ${e}?`:"Retry every step that failed?",text:a`<p>${v(r.length,"step")} will run: <strong>${ct(r)}</strong>. What succeeded before is kept.</p>`,action:"Retry",run:async()=>{await O(`runs/${t.id}/retry`,e?{steps:[e]}:{}),x("Retried"),await o()}})}function qt({name:t}){let e=p.value.get("ns")||"default",o=p.value.get("version")??"",s=g(`workflows/${encodeURIComponent(t)}`,{namespace:e,version:o},{load:W});return a`<${u} read=${s}>${n=>a`<${Ut} workflow=${n} />`}</${u}>`}function Ut({workflow:t}){let e=p.value.get("view")??"graph",o=t.steps.findIndex(({name:n})=>n===p.value.get("step")),s={steps:t.steps,chosen:t.steps[o]?.name??null,label:`Steps of ${t.name}`};return a`
    <div class="page-head"><h1>${t.name}</h1>
      <div class="actions"><a class="button" href=${l("/runs",{workflow:t.name,ns:t.namespace})}>Runs</a><${Wt} workflow=${t} /></div>
      <p class="subline"><span>version ${t.version}</span><span class="quiet">namespace ${t.namespace}</span>
        <span class="quiet">changed <${d} at=${t.updated_at} /></span><span class="quiet">a run may take ${f(t.timeout*1e3)}</span>
        ${t.version>1&&a`<a href=${c({version:t.version-1})}>the version before</a>`}</p>
    </div>
    <div class="stack">
      <div class="panel">
        <div class="head"><h2>Steps</h2><nav class="row" aria-label="View">${["graph","list"].map(n=>a`
          <a key=${n} class="button small" href=${c({view:n})} aria-current=${e===n?"true":void 0}>${n}</a>`)}</nav></div>
        ${e==="graph"?a`<${P} ...${s} />`:a`<${j} ...${s} />`}
      </div>
      ${o>=0&&a`<section class="panel" aria-label=${`Step ${s.chosen}`}><div class="head"><h2>${s.chosen}</h2>${R(t.steps[o])}</div>
        <div class="body"><${D} text=${JSON.stringify(t.steps[o])} name="step" /></div></section>`}
      <section class="panel"><div class="head"><h2>Definition</h2></div><div class="body"><${D} text=${N(t,"steps")} name="definition" /></div></section>
    </div>`}function Wt({workflow:t}){let e=Y(null);return E("operate")?a`<button class="primary" onClick=${()=>L({title:`Start ${t.name}`,text:a`<label class="field"><span>Input, as JSON</span><textarea ref=${e} rows="6" spellcheck=${!1} defaultValue="null"></textarea></label>`,action:"Start",run:async()=>{let s=e.current.value.trim()||"null";JSON.parse(s);let n=JSON.stringify({workflow:`${t.name}@${t.version}`,namespace:t.namespace}),r=await O("runs",`${n.slice(0,-1)}, "input": ${s}}`);x("Started"),tt(l(`/runs/${r.id}`))}})}>Start a run…</button>`:null}var Pt={method:"PUT",path:"workflows/hello",body:JSON.stringify({steps:B})},jt=[{id:"name",head:"Name",class:"main",cell:t=>a`<a href=${$t(t)}>${t.name}</a><span class="sub">${t.namespace}</span>`},{id:"version",head:"Version",class:"number",cell:({version:t})=>t},{id:"updated",head:"Changed",cell:({updated_at:t})=>a`<${d} at=${t} />`},{id:"runs",head:"Runs",class:"bare",cell:({name:t,namespace:e})=>a`<a href=${l("/runs",{workflow:t,ns:e})} aria-label=${`Runs of ${t}`}>its runs</a>`}],$t=({name:t,namespace:e})=>l(`/workflows/${encodeURIComponent(t)}`,{ns:e==="default"?"":e});function Mt(){let t=y("workflows",{namespace:q.value},e=>`${e.namespace}/${e.name}`);return a`
    <div class="page-head"><h1>Workflows</h1></div>
    <${k} list=${t} columns=${jt} caption="Workflows" href=${$t}
      empty=${a`<${h} title=${`No workflows${at()}`} command=${T(Pt)} />`} />`}export{Rt as Run,Dt as Runs,qt as Workflow,Mt as Workflows};
