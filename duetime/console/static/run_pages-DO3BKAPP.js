import{a as M,b as N}from"./chunk-RTX5WOQU.js";import{a as D}from"./chunk-KPXLHW64.js";import{e as I}from"./chunk-MEHQ4HWC.js";import{a as y,b as k}from"./chunk-45NLRTY3.js";import"./chunk-L5TMSTK5.js";import{$ as h,K as X,La as f,Na as d,Q as E,S as Z,V as A,W as x,Z as q,b as K,ba as C,c as O,ca as tt,d as Y,da as u,e as z,fa as L,i as a,ia as p,ja as l,ka as c,la as et,m as T,ma as at,p as H,pa as U,qa as st,s as v,va as g,wa as W,xa as $}from"./chunk-G2Y3N7PR.js";var w=["DEAD","CANCELLED","EXPIRED"],ft=["SUCCEEDED","SKIPPED",...w],ot=t=>ft.includes(t.status);function _(t,e){let n=new Set([e]),s;do{s=n.size;for(let o of t)o.needs.some(r=>n.has(r))&&n.add(o.name)}while(n.size>s);return t.filter(o=>o.name!==e&&n.has(o.name)).map(o=>o.name)}function S(t,e){return e.status!=="BLOCKED"?[]:t.filter(n=>e.needs.includes(n.name)&&!ot(n)).map(n=>n.name)}function nt(t){let e=t.filter(o=>!ot(o)&&o.status!=="BLOCKED"),n=e.length?e:t.filter(o=>w.includes(o.status)),s=new Set(t.filter(({status:o})=>["BLOCKED","SKIPPED"].includes(o)).map(({name:o})=>o));return n.map(o=>({step:o,holds:_(t,o.name).filter(r=>s.has(r))})).sort((o,r)=>r.holds.length-o.holds.length)}function rt(t){let e=new Map,n=new Map(t.map(r=>[r.name,r])),s=r=>{if(!e.has(r.name)){e.set(r.name,0);let i=r.needs.map(b=>n.get(b)).filter(Boolean);e.set(r.name,i.length?1+Math.max(...i.map(s)):0)}return e.get(r.name)},o=Math.max(0,...t.map(s))+1;return t.map(r=>({step:r,depth:r.finally?o:s(r)})).sort((r,i)=>r.depth-i.depth)}var B={width:188,height:56};function P({steps:t,chosen:e,label:n}){let s=vt(t);if(!s)return a`<${tt} />`;let{plan:o,pathOf:r}=s,i=new Map(t.map(m=>[m.name,m])),b=({from:m})=>i.get(m)?.status==="SUCCEEDED";return a`
    <div class="graph scroll" role="group" aria-label=${n} tabindex="0"><div class="canvas" style=${{width:`${o.width}px`,height:`${o.height}px`}}>
      <svg viewBox=${`0 0 ${o.width} ${o.height}`} width=${o.width} height=${o.height} role="img" aria-label=${`${n}: what needs what`}>
        <title>${`${n}: what needs what`}</title>
        <defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 .5 7 4 0 7.500z" /></marker></defs>
        ${o.edges.map(m=>a`<path key=${`${m.from} ${m.to}`} class=${b(m)?"past":""} d=${r(m.points)} marker-end="url(#arrow)"><title>${`${m.to} needs ${m.from}`}</title></path>`)}
      </svg>
      <ul>${o.nodes.map(({name:m,x:dt,y:ut})=>i.has(m)&&a`
        <li key=${m} style=${{left:`${dt}px`,top:`${ut}px`,width:`${B.width}px`,height:`${B.height}px`}}><${ht} step=${i.get(m)} steps=${t} chosen=${m===e} /></li>`)}</ul>
    </div></div>`}function ht({step:t,steps:e,chosen:n}){let s=S(e,t);return a`
    <a href=${c({step:n?"":t.name})} class=${`node tone-${W(t.status)}`} aria-current=${n?"true":void 0} title=${t.name}>
      <span class="node-name">${t.name}</span>
      <span class="node-state">${t.status?a`<${$} status=${t.status} />`:R(t)}${wt(t,s)}</span>
    </a>`}function wt(t,e){return e.length?a`<span class="quiet">for ${e.join(", ")}</span>`:t.attempt>1?a`<span class="quiet">attempt ${t.attempt}</span>`:t.run_id&&a`<span class="quiet"><${A} name="queue" /><span class="unseen">has a run of its own</span></span>`}function R(t){let e=t.target?t.target.handler??t.target.type:t.wait?"wait":typeof t.workflow=="string"?t.workflow:"workflow";return a`<span class="quiet">${e}${t.map?", for each item":""}</span>`}function vt(t){let e=JSON.stringify(t.map(({name:o,needs:r,finally:i})=>[o,r,i])),[n,s]=K(null);return O(()=>{let o=!0;return import("./graph-ST5Q6PBI.js").then(({pathOf:r,placed:i})=>o&&s({plan:i(t,B),pathOf:r})),()=>o=!1},[e]),n}var gt={condition:"its condition was not met",upstream:"a step before it failed",stopped:"the run was stopped"};function it({run:t,step:e,retry:n}){let s=S(t.steps,e),o=_(t.steps,e.name),r=[["Needs",e.needs.length?e.needs.join(", "):e.finally?"all other steps to end":"nothing"],["Before",o.length?o.join(", "):"nothing"],s.length&&["Waits for",s.join(", ")],e.reason&&["Why",gt[e.reason]??e.reason],["Attempt",e.attempt||"–"],["Started",a`<${d} at=${e.started_at} as="ms" />`],["Took",e.started_at&&e.finished_at?f(Date.parse(e.finished_at)-Date.parse(e.started_at)):"–"],e.task_id&&["Task",a`<a href=${l(`/tasks/${e.task_id}`)}><code>${e.task_id}</code></a>`]].filter(Boolean);return a`
    <section class="panel step-detail" aria-label=${`Step ${e.name}`}>
      <div class="head"><h2>${e.name}</h2><${$} status=${e.status} />
        <span class="row">${n&&w.includes(e.status)&&a`<button class="small primary" onClick=${()=>n(e.name)}>Retry from here…</button>`}
          <a class="plain" href=${c({step:""})} aria-label="Close the step"><${A} name="cross" /></a></span></div>
      <div class="body stack">
        <dl class="facts">${r.map(([i,b])=>a`<dt key=${i}>${i}</dt><dd>${b}</dd>`)}</dl>
        ${e.error&&a`<${yt} error=${e.error} />`}
        ${e.run_id&&a`<${kt} run=${t} step=${e} />`}
      </div>
    </section>`}function yt({error:t}){return a`
    <div class="step-error"><p><strong>${t.type}</strong>: ${t.message}</p>
      ${t.traceback&&a`<details><summary>Traceback</summary><div class="code"><pre tabindex="0">${t.traceback}</pre><${q} text=${t.traceback} name="traceback" /></div></details>`}</div>`}function kt({run:t,step:e}){let n=g(`runs/${e.run_id}`);return a`<${u} read=${n} rows=${2}>${s=>s.map?a`<${bt} run=${t} step=${e} />`:a`<p><a href=${l(`/runs/${s.id}`)}>Open its run</a> <${$} status=${s.status} /></p>`}</${u}>`}var St=[{id:"index",head:"Item",cell:({index:t,task_id:e})=>e?a`<a href=${l(`/tasks/${e}`)}>${t}</a>`:t},{id:"status",head:"Status",class:"bare",cell:({status:t})=>a`<${$} status=${t} />`},{id:"attempt",head:"Attempt",class:"number",cell:({attempt:t})=>t||"–"},{id:"took",head:"Took",class:"number",cell:({started_at:t,finished_at:e})=>t&&e?f(Date.parse(e)-Date.parse(t)):"–"},{id:"error",head:"Error",cell:({error:t,reason:e})=>t?.message??e??""}];function bt({run:t,step:e}){let n=y(`runs/${t.id}/steps/${encodeURIComponent(e.name)}/items`,{limit:50},({index:s})=>String(s));return a`<h3>Items</h3><${k} list=${n} columns=${St} caption=${`Items of ${e.name}`} empty=${a`<${h} title="The list was empty" />`} />`}var Et=8;function j({steps:t,chosen:e,label:n}){return a`
    <ol class="steps" aria-label=${n}>${rt(t).map(({step:s,depth:o})=>a`
      <li key=${s.name} class=${`depth-${Math.min(o,Et)}`}>
        <a href=${c({step:s.name===e?"":s.name})} aria-current=${s.name===e?"true":void 0}>${s.name}</a>
        ${s.status?a`<${$} status=${s.status} />`:R(s)}
        <span class="quiet">${xt(t,s)}</span>
      </li>`)}</ol>`}function xt(t,e){let n=S(t,e);return n.length?`waits for ${n.join(", ")}`:e.status==="SKIPPED"?e.reason??"":e.finished_at&&e.started_at?f(Date.parse(e.finished_at)-Date.parse(e.started_at)):e.needs.length&&!e.status?`after ${e.needs.join(", ")}`:e.finally?"after all others":""}var Ct=["RUNNING","CANCELLING","SUCCEEDED","FAILED","CANCELLED"],lt={type:"python",handler:"duetime.hello"},J=[{name:"first",target:lt},{name:"second",target:lt,needs:["first"]}],Lt={method:"POST",path:"runs",body:JSON.stringify({steps:J})},Dt=[{id:"status",head:"Status",class:"bare",cell:t=>a`<${$} status=${t.status} />`},{id:"name",head:"Run",class:"main",cell:t=>a`<a href=${l(`/runs/${t.id}`)}>${G(t)}</a><span class="sub">${F(t)} · ${t.namespace}</span>`},{id:"steps",head:"Steps",cell:t=>a`<${Q} counts=${t.counts} />`},{id:"created",head:"Started",cell:t=>a`<${d} at=${t.created_at} />`},{id:"took",head:"Took",class:"number",cell:t=>V(t)},{id:"error",head:"Error",cell:({error:t})=>t&&a`<code>${t.step}</code><span class="sub">${t.type}</span>`}];function Nt(){let t=p.value.get("status")??"",e=p.value.get("workflow")??"",n=y("runs",{namespace:U.value,status:t,workflow:e});return a`
    <div class="page-head"><h1>Runs</h1>
      <label class="key-field"><span class="quiet">of the workflow</span><input value=${e} placeholder="any" maxlength="64" spellcheck=${!1} onChange=${({currentTarget:s})=>at({workflow:s.value.trim()})} /></label>
      <div class="actions"><a class="button" href=${l("/workflows")}>Workflows</a></div>
    </div>
    <nav class="chips list-chips" aria-label="Status">${["",...Ct].map(s=>a`
      <a key=${s} href=${c({status:s})} aria-current=${t===s?"true":void 0}>${s.toLowerCase()||"all"}</a>`)}</nav>
    <${k} list=${n} columns=${Dt} caption="Runs" href=${({id:s})=>l(`/runs/${s}`)}
      empty=${t||e?a`<${h} title="No run matches"><a href=${c({status:"",workflow:""})}>Show all</a></${h}>`:a`<${h} title="No workflow has run yet" command=${I(Lt)} />`} />`}var G=t=>t.name||t.workflow||t.id;function F(t){return t.workflow?`${t.workflow}@${t.version}`:t.map?`map of ${t.map.step}`:"without a workflow"}var V=t=>f((t.finished_at?Date.parse(t.finished_at):X.value)-Date.parse(t.run_at??t.created_at));function Q({counts:t}){let e=Object.values(t).reduce((s,o)=>s+o,0),n=Object.entries(t).map(([s,o])=>`${o} ${s.toLowerCase().replaceAll("_"," ")}`).join(", ");return a`
    <span class="counts" title=${n}>
      <span class="bar" aria-hidden="true">${Object.entries(t).map(([s,o])=>a`<span key=${s} class=${`tone-${s==="UNDER_WAY"?"blue":W(s)}`} style=${{flexGrow:o}}></span>`)}</span>
      <span class="quiet">${t.SUCCEEDED??0} of ${v(e,"step")}</span><span class="unseen">: ${n}</span>
    </span>`}var _t=250,Rt=matchMedia("(max-width: 720px)");function Ot({id:t}){let e=g(`runs/${t}`,{},{load:M}),n=Tt(e.reload);return Z({topic:"tasks",filter:{run_id:t}},n),a`<${u} read=${e}>${s=>a`<${It} run=${s} reload=${e.reload} />`}</${u}>`}var ct=({status:t})=>["SUCCEEDED","FAILED","CANCELLED"].includes(t);function Tt(t){let e=z(()=>({id:null,action:t}),[]);return e.action=t,O(()=>()=>clearTimeout(e.id),[]),()=>{clearTimeout(e.id),e.id=setTimeout(()=>e.action(),_t)}}function It({run:t,reload:e}){let n=p.value.get("view")??(Rt.matches?"list":"graph"),s=t.steps.find(({name:i})=>i===p.value.get("step")),o=E("operate")&&t.status==="FAILED"&&!t.parent_task_id&&!t.map?i=>Ut(t,i,e):null,r={steps:t.steps,chosen:s?.name??null,label:`Steps of ${G(t)}`};return a`
    <div class="page-head">
      <${$} status=${t.status} /><h1>${t.name||t.workflow||"Run"}</h1>
      <div class="actions"><${qt} run=${t} retry=${o} reload=${e} /></div>
      <p class="subline"><span>${t.workflow?a`<a href=${l(`/workflows/${t.workflow}`,{ns:t.namespace,version:t.version})}>${F(t)}</a>`:F(t)}</span>
        <span class="quiet">namespace ${t.namespace}</span>
        <span class="quiet">started <${d} at=${t.run_at} />, ${ct(t)?"took":"for"} ${V(t)}</span>
        ${t.attempt>1&&a`<span class="quiet">attempt ${t.attempt}</span>`}
        ${t.parent_task_id&&a`<a href=${l(`/tasks/${t.parent_task_id}`)}>the task that waits for it</a>`}
        <span class="quiet"><code>${t.id}</code><${q} text=${t.id} name="id" /></span></p>
    </div>
    <div class="stack">
      <${At} run=${t} />
      ${t.map?a`<${C}>This run has the items of the step <strong>${t.map.step}</strong>. <a href=${l(`/runs/${t.map.run_id}`,{step:t.map.step})}>Open the run that it belongs to</a></${C}>`:a`
        <div class="panel">
          <div class="head"><h2>Steps</h2><${Q} counts=${t.counts} />
            <nav class="row" aria-label="View">${["graph","list"].map(i=>a`<a key=${i} class="button small" href=${c({view:i})} aria-current=${n===i?"true":void 0}>${i}</a>`)}</nav></div>
          ${n==="graph"?a`<${P} ...${r} />`:a`<${j} ...${r} />`}
        </div>`}
      ${s&&a`<${it} key=${s.name} run=${t} step=${s} retry=${o} />`}
      <div class="grid">
        <${mt} name="Input" text=${N(t,"input")} /><${mt} name="Result" text=${N(t,"result")} note=${t.not_shown?.result} />
      </div>
    </div>`}function mt({name:t,text:e,note:n}){return a`<section class="panel"><div class="head"><h2>${t}</h2></div><div class="body">
    ${n?a`<p class="quiet">${n}</p>`:e==="null"||e===null?a`<span class="quiet">none</span>`:a`<${D} text=${e} name=${t.toLowerCase()} />`}</div></section>`}function At({run:t}){let e=nt(t.steps);if(!e.length||t.status==="SUCCEEDED")return null;let n=w.includes(e[0].step.status);return a`
    <${C} tone=${n?"red":"blue"} icon=${n?"alert":"hourglass"}>
      <ul class="holdups">${e.slice(0,3).map(({step:s,holds:o})=>a`<li key=${s.name}>
        <a href=${c({step:s.name})}><strong>${s.name}</strong></a>${" "}
        ${n?a`is ${s.status.toLowerCase()}${s.error&&`: ${s.error.type}: ${s.error.message}`}`:`is ${s.status.toLowerCase()}${s.attempt>1?`, attempt ${s.attempt}`:""}`}
        ${o.length>0&&a`. ${n?"Not run for it":"Waiting for it"}: ${$t(o)}`}</li>`)}
        ${e.length>3&&a`<li>and ${v(e.length-3,"other step")}</li>`}</ul></${C}>`}var $t=t=>t.length>6?`${t.slice(0,6).join(", ")} and ${v(t.length-6,"other")}`:t.join(", ");function qt({run:t,retry:e,reload:n}){if(!E("operate"))return null;let s=t.steps.filter(({status:r})=>w.includes(r)),o=()=>L({title:t.status==="CANCELLING"?"Stop the last steps too?":"Cancel this run?",text:a`<p>No step starts any more, and those that run are asked to stop. ${t.status==="CANCELLING"?"":"Then the steps marked finally run."}</p>`,action:"Cancel the run",danger:!0,run:async()=>{await H(`runs/${t.id}`),x("Cancelling"),await n()}});return a`
    ${e&&a`<button class="primary" onClick=${()=>e(s.length===1?s[0].name:null)}>${s.length===1?`Retry from ${s[0].name}…`:"Retry what failed…"}</button>`}
    ${!ct(t)&&a`<button onClick=${o}>Cancel…</button>`}`}function Ut(t,e,n){let s=t.steps.filter(({status:i})=>w.includes(i)).map(i=>i.name),o=e?[e]:s,r=[...new Set(o.flatMap(i=>[i,..._(t.steps,i)]))];return L({title:e?`Retry from ${e}?`:"Retry every step that failed?",text:a`<p>${v(r.length,"step")} will run: <strong>${$t(r)}</strong>. What succeeded before is kept.</p>`,action:"Retry",run:async()=>{await T(`runs/${t.id}/retry`,e?{steps:[e]}:{}),x("Retried"),await n()}})}function Wt({name:t}){let e=p.value.get("ns")||"default",n=p.value.get("version")??"",s=g(`workflows/${encodeURIComponent(t)}`,{namespace:e,version:n},{load:M});return a`<${u} read=${s}>${o=>a`<${Mt} workflow=${o} />`}</${u}>`}function Mt({workflow:t}){let e=p.value.get("view")??"graph",n=t.steps.findIndex(({name:o})=>o===p.value.get("step")),s={steps:t.steps,chosen:t.steps[n]?.name??null,label:`Steps of ${t.name}`};return a`
    <div class="page-head"><h1>${t.name}</h1>
      <div class="actions"><a class="button" href=${l("/runs",{workflow:t.name,ns:t.namespace})}>Runs</a><${Pt} workflow=${t} /></div>
      <p class="subline"><span>version ${t.version}</span><span class="quiet">namespace ${t.namespace}</span>
        <span class="quiet">changed <${d} at=${t.updated_at} /></span><span class="quiet">a run may take ${f(t.timeout*1e3)}</span>
        ${t.version>1&&a`<a href=${c({version:t.version-1})}>the version before</a>`}</p>
    </div>
    <div class="stack">
      <div class="panel">
        <div class="head"><h2>Steps</h2><nav class="row" aria-label="View">${["graph","list"].map(o=>a`
          <a key=${o} class="button small" href=${c({view:o})} aria-current=${e===o?"true":void 0}>${o}</a>`)}</nav></div>
        ${e==="graph"?a`<${P} ...${s} />`:a`<${j} ...${s} />`}
      </div>
      ${n>=0&&a`<section class="panel" aria-label=${`Step ${s.chosen}`}><div class="head"><h2>${s.chosen}</h2>${R(t.steps[n])}</div>
        <div class="body"><${D} text=${JSON.stringify(t.steps[n])} name="step" /></div></section>`}
      <section class="panel"><div class="head"><h2>Definition</h2></div><div class="body"><${D} text=${N(t,"steps")} name="definition" /></div></section>
    </div>`}function Pt({workflow:t}){let e=Y(null);return E("operate")?a`<button class="primary" onClick=${()=>L({title:`Start ${t.name}`,text:a`<label class="field"><span>Input, as JSON</span><textarea ref=${e} rows="6" spellcheck=${!1} defaultValue="null"></textarea></label>`,action:"Start",run:async()=>{let s=e.current.value.trim()||"null";JSON.parse(s);let o=JSON.stringify({workflow:`${t.name}@${t.version}`,namespace:t.namespace}),r=await T("runs",`${o.slice(0,-1)}, "input": ${s}}`);x("Started"),et(l(`/runs/${r.id}`))}})}>Start a run…</button>`:null}var jt={method:"PUT",path:"workflows/hello",body:JSON.stringify({steps:J})},Ft=[{id:"name",head:"Name",class:"main",cell:t=>a`<a href=${pt(t)}>${t.name}</a><span class="sub">${t.namespace}</span>`},{id:"version",head:"Version",class:"number",cell:({version:t})=>t},{id:"updated",head:"Changed",cell:({updated_at:t})=>a`<${d} at=${t} />`},{id:"runs",head:"Runs",class:"bare",cell:({name:t,namespace:e})=>a`<a href=${l("/runs",{workflow:t,ns:e})} aria-label=${`Runs of ${t}`}>its runs</a>`}],pt=({name:t,namespace:e})=>l(`/workflows/${encodeURIComponent(t)}`,{ns:e==="default"?"":e});function Bt(){let t=y("workflows",{namespace:U.value},e=>`${e.namespace}/${e.name}`);return a`
    <div class="page-head"><h1>Workflows</h1></div>
    <${k} list=${t} columns=${Ft} caption="Workflows" href=${pt}
      empty=${a`<${h} title=${`No workflows${st()}`} command=${I(jt)} />`} />`}export{Ot as Run,Nt as Runs,Wt as Workflow,Bt as Workflows};
