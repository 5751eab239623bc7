import{d as fe,e as Z,f as be,h as ee,i as we,j as Te}from"./chunk-65YZTMEO.js";import{a as se}from"./chunk-BJIDYWJE.js";import{a as q,b as A,c as L,d as F}from"./chunk-ADBLR36V.js";import{c as ye}from"./chunk-QZPBLLVJ.js";import{$ as M,F as V,Fa as x,Ha as ae,J as ue,Ja as ne,K as pe,Ka as b,Ma as h,P as C,R as H,S as me,U as j,V as P,Y as X,_ as D,aa as w,b as g,c as re,ca as N,da as K,e as ie,ea as he,ha as T,i as a,ia as y,ja as ge,ka as ve,l as le,la as xe,m as z,o as ce,oa as G,p as de,q as O,r as W,s as I,ta as _e,u as U,ua as R,va as Ne,w as Y,wa as te,x as _,xa as k,y as $e}from"./chunk-DOORRIRL.js";var qe=100;function Ae(){let e=G.value==="*"?void 0:G.value,n=_e({namespace:e}),[t,s]=g(null);H({topic:"tasks",filter:{status:["DEAD"]}},()=>n.reload());let r=T.value.get("group"),o=i=>{s(null),i&&n.reload()};if(n.problem?.status===404)return a`<div class="page-head"><h1>Dead letters</h1></div><${w}>This server does not group dead letters. <a href=${y("/tasks",{status:"DEAD"})}>List the dead tasks</a>.</${w}>`;let l=n.data?.items.reduce((i,c)=>i+c.count,0);return a`
    <div class="page-head"><h1>Dead letters</h1>${l>0&&a`<span class="quiet">${I(l,"task")}, ${I(n.data.items.length,"cause")}</span>`}
      ${C("operate")&&l>0&&a`<div class="actions">
        <button onClick=${()=>s({action:"redrive",body:e?{namespace:e}:{all:!0},what:a`<p>Every dead task${e&&a` of the namespace ${e}`}. Is each cause fixed?</p>`})}>Retry all …</button>
        <button onClick=${()=>s({action:"discard",body:e?{namespace:e}:{all:!0},what:a`<p>Gives up every dead task${e&&a` of the namespace ${e}`}. Each becomes cancelled and cannot be retried.</p>`})}>Discard all …</button></div>`}
    </div>
    <${N} read=${n} rows=${6}>${({items:i,complete:c,looked_at:d})=>i.length?a`
      ${c===!1&&a`<${w} tone="amber" icon="alert">Only the latest ${W(d)} dead tasks were read.</${w}>`}
      <ul class="causes">${i.map($=>a`<${Pe} key=${$.fingerprint} group=${$} open=${$.fingerprint===r} onAct=${s} />`)}</ul>`:a`<div class="panel"><${D} title="No dead tasks">A task that is out of attempts, or failed for good, is listed here.</${D}></div>`}</${N}>
    ${t&&a`<${be} ...${t} onClose=${o} />`}`}function Pe({group:e,open:n,onAct:t}){return a`
    <li class="panel cause">
      <div class="cause-head">
        <a class="cause-count" href=${ge({group:n?"":e.fingerprint})} aria-expanded=${n} aria-label=${`${I(e.count,"task")} of ${e.error_type}`}>${W(e.count)}</a>
        <div class="cause-text"><p><strong>${e.error_type}</strong> <span class="target">${e.target}</span></p><p class="quiet message">${e.message}</p></div>
        <div class="cause-times quiet"><span>first <${h} at=${e.first} /></span><span>last <${h} at=${e.last} /></span></div>
        <div class="row">
          ${C("operate")&&a`<button class="small primary" onClick=${()=>t({action:"redrive",body:ee(e),what:we(e)})}>Retry ${W(e.count)} …</button>`}
          <a class="button small" href=${y(`/tasks/${e.sample_id}`)}>Open one</a>
        </div>
      </div>
      ${n&&a`<${Ge} group=${e} />`}
    </li>`}function Ge({group:e}){let n=R("dead-letters",{fingerprint:e.fingerprint,namespace:ee(e).namespace,limit:qe});return a`<${N} read=${n}>${({items:t})=>a`<ul class="cause-tasks">${t.map(s=>a`
    <li key=${s.id}><a href=${y(`/tasks/${s.id}`)}>${_(s)}</a><span class="quiet"><${h} at=${s.finished_at} /></span><span class="quiet">${s.error?.message}</span></li>`)}</ul>`}</${N}>`}var Ue=["python","http","sqs","sns","eventbridge","lambda","stepfunctions","dynamodb","email","sql","workflow"],Se={sqs:{type:"sqs",queue_url:""},sns:{type:"sns",topic_arn:""},eventbridge:{type:"eventbridge",source:"",detail_type:""},lambda:{type:"lambda",function:""},stepfunctions:{type:"stepfunctions",state_machine_arn:""},dynamodb:{type:"dynamodb",table:""},email:{type:"email",to:""},sql:{type:"sql",database:"",statement:""},workflow:{type:"workflow",workflow:""}},Ee={type:"python",handler:"",method:"POST",url:"",target:"",payload:"",when:"now",delay:"60",run_at:"",priority:"",name:"",namespace:"",tags:"",max_attempts:"",timeout:""};function Le(){let e=T.value.get("from"),n=R("handlers",{},{again:!1}),[t,s]=g(()=>({...Ee,handler:T.value.get("handler")??"",namespace:G.value==="*"?"":G.value})),[r,o]=g({busy:!1,problem:null});re(()=>{e&&Fe(e).then(f=>s({...Ee,...f}),f=>o({busy:!1,problem:f}))},[e]);let l=n.data?.items??[],i=n.data?.items.length===0,c=l.find(({name:f})=>f===t.handler),{body:d,errors:$}=ie(()=>Je(t),[t]),p={...$,...He(r.problem)},m=f=>({currentTarget:E})=>s({...t,[f]:E.value});return a`
    <div class="page-head"><h1>${e?"Submit again":"New task"}</h1></div>
    <div class="split even">
      <form class="panel form" onSubmit=${async f=>{if(f?.preventDefault(),!Object.keys($).length){o({busy:!0,problem:null});try{let E=await O("POST","tasks",{body:d});P("Submitted"),ve(y(`/tasks/${E.id}`,{from:"",ns:T.value.get("ns")}))}catch(E){o({busy:!1,problem:E})}}}}>
        <div class="body form">
          <${je} ...${{fields:t,set:m,wrong:p}} known=${l} none=${i} handler=${c} setFields=${s} />
          <${u} label="Payload, JSON" error=${p.payload} hint=${c?.doc}>
            <textarea rows="7" spellcheck=${!1} value=${t.payload} aria-invalid=${!!p.payload} placeholder='{"name": "Ada"}' onInput=${m("payload")}></textarea></${u}>
          ${c?.payload_schema&&a`<${Me} schema=${c.payload_schema} fill=${f=>s({...t,payload:f})} />`}
          <fieldset class="fields"><legend class="unseen">When</legend>
            <${u} label="When"><select value=${t.when} onChange=${m("when")}><option value="now">Now</option><option value="delay">After a delay</option><option value="run_at">At a time (UTC)</option></select></${u}>
            ${t.when==="delay"&&a`<${u} label="Delay, seconds" error=${p.delay}><input inputmode="decimal" value=${t.delay} aria-invalid=${!!p.delay} onInput=${m("delay")} /></${u}>`}
            ${t.when==="run_at"&&a`<${u} label="Time (UTC)" error=${p.run_at}><input type="datetime-local" value=${t.run_at} onInput=${m("run_at")} /></${u}>`}
            <${u} label="Priority"><select value=${t.priority} onChange=${m("priority")}><option value="">Default</option>${["high","medium","low"].map(f=>a`<option key=${f}>${f}</option>`)}</select></${u}>
          </fieldset>
          <details open=${!!(t.name||t.tags||t.max_attempts||t.timeout)}><summary>More</summary>
            <div class="fields more">
              <${u} label="Name" error=${p.name}><input value=${t.name} onInput=${m("name")} /></${u}>
              <${u} label="Namespace" error=${p.namespace}><input value=${t.namespace} placeholder="default" onInput=${m("namespace")} /></${u}>
              <${u} label="Attempts" error=${p["retry.max_attempts"]}><input inputmode="numeric" value=${t.max_attempts} placeholder="5" onInput=${m("max_attempts")} /></${u}>
              <${u} label="Timeout, seconds" error=${p.timeout}><input inputmode="decimal" value=${t.timeout} placeholder="60" onInput=${m("timeout")} /></${u}>
              <${u} label="Tags" error=${p.tags} hint="team:growth, kind:mail"><input value=${t.tags} onInput=${m("tags")} /></${u}>
            </div></details>
          <${M} problem=${r.problem} />
          ${C("operate")&&a`<div class="row"><button class="primary" disabled=${r.busy||Object.keys($).length>0}>Submit</button></div>`}
        </div>
      </form>
      <section class="panel" aria-label="The same call"><div class="head"><h2>The same call</h2></div><div class="body">
        <${fe} call=${{method:"POST",path:"tasks",body:d,call:"client.submit(**)"}} /></div></section>
    </div>`}function u({label:e,hint:n,error:t,children:s}){return a`<label class="field"><span>${e}</span>${s}${n&&a`<span class="hint">${n}</span>`}${t&&a`<span class="error">${t}</span>`}</label>`}function je({fields:e,set:n,wrong:t,known:s,none:r,handler:o,setFields:l}){let i=({currentTarget:{value:c}})=>l({...e,type:c,target:Se[c]?JSON.stringify(Se[c],null,2):""});return a`
    <div class="fields">
      <${u} label="Target"><select value=${e.type} onChange=${i}>${Ue.map(c=>a`<option key=${c}>${c}</option>`)}</select></${u}>
      ${e.type==="python"&&a`
        <${u} label="Handler" error=${t["target.handler"]} hint=${o?.module&&`${o.module}${o.line?`:${o.line}`:""}`}>
          <input list="handlers" value=${e.handler} required aria-invalid=${!!t["target.handler"]} placeholder="shop.restock" spellcheck=${!1} autocomplete="off" onInput=${n("handler")} /></${u}>
        <datalist id="handlers">${s.map(({name:c,doc:d})=>a`<option key=${c} value=${c}>${d}</option>`)}</datalist>`}
      ${e.type==="http"&&a`
        <${u} label="Method"><select value=${e.method} onChange=${n("method")}>${["POST","GET","PUT","PATCH","DELETE"].map(c=>a`<option key=${c}>${c}</option>`)}</select></${u}>`}
    </div>
    ${e.type==="http"&&a`<${u} label="URL" error=${t["target.url"]}><input type="url" value=${e.url} required placeholder="https://example.com/hook" aria-invalid=${!!t["target.url"]} onInput=${n("url")} /></${u}>`}
    ${e.target!==""&&a`<${u} label=${"Target, JSON"} error=${t.target}><textarea rows="6" spellcheck=${!1} value=${e.target} aria-invalid=${!!t.target} onInput=${n("target")}></textarea></${u}>`}
    ${r&&e.type==="python"&&a`<${w}>No handlers are registered. Start the runner with <code>duetime local --handlers handlers</code>.</${w}>`}`}function Me({schema:e,fill:n}){let t=new Set(e.required??[]),s=Object.entries(e.properties??{});if(!s.length)return null;let r=Object.fromEntries(s.filter(([o])=>t.has(o)).map(([o,l])=>[o,Oe(l,e)]));return a`<div class="schema"><dl class="facts">${s.map(([o,l])=>a`<dt key=${o}><code>${o}</code></dt>
    <dd class="quiet">${oe(l)}${t.has(o)?", required":l.default!==void 0?`, default ${JSON.stringify(l.default)}`:""}${l.description&&` · ${l.description}`}</dd>`)}</dl>
    <button type="button" class="small" onClick=${()=>n(JSON.stringify(r,null,2))}>Fill in</button></div>`}function oe(e){return e.enum?e.enum.map(n=>JSON.stringify(n)).join(" | "):e.anyOf?e.anyOf.map(oe).join(" | "):e.type==="array"?`list of ${oe(e.items??{})}`:e.$ref?.split("/").pop()??e.format??e.type??"any"}var Be={string:"",integer:0,number:0,boolean:!1,array:[],object:{}};function Oe(e,n){let t=e.$ref&&n.$defs?.[e.$ref.split("/").pop()];return t?Oe(t,n):e.default!==void 0?e.default:e.enum?e.enum[0]:Be[e.type]??null}function Je(e){let n={},t=[],s=(i,c)=>t.push(`${JSON.stringify(i)}: ${c}`),r=(i,c)=>{try{s(i,F(q(c),"  "))}catch(d){n[i]=`Not JSON: ${d.message}`}},o=(i,c,d=i)=>{c===""||Number.isNaN(Number(c))?n[d]="Not a number":s(i,String(Number(c)))};e.target?r("target",e.target):e.type==="http"?s("target",JSON.stringify({type:"http",url:e.url,...e.method!=="POST"&&{method:e.method}})):s("target",JSON.stringify({type:e.type,handler:e.handler})),e.payload.trim()&&r("payload",e.payload),e.when==="delay"&&o("delay",e.delay),e.when==="run_at"&&e.run_at&&s("run_at",JSON.stringify(`${e.run_at}:00Z`));for(let i of["priority","name","namespace"])e[i]&&s(i,JSON.stringify(e[i]));e.timeout&&o("timeout",e.timeout),e.max_attempts&&s("retry",JSON.stringify({max_attempts:Number(e.max_attempts)||0}));let l=We(e.tags);return Object.keys(l).length&&s("tags",JSON.stringify(l)),{body:`{
  ${t.join(`,
  `)}
}`,errors:n}}function We(e){let n=e.split(",").map(t=>t.trim()).filter(Boolean);return Object.fromEntries(n.map(t=>[t.split(":")[0].trim(),t.split(":").slice(1).join(":").trim()]))}var He=e=>Object.fromEntries((e?.errors??[]).map(({field:n,message:t})=>[n,t]));async function Fe(e){let n=await O("GET",`tasks/${e}`,{text:!0}),t=JSON.parse(n),s=q(n),r=t.target?.type==="python"&&Object.keys(t.target).length===2,o=L(A(s,"payload"));return t.not_shown?.payload&&(o=await O("GET",`tasks/${e}/payload`,{text:!0})),{type:t.target?.type??"python",handler:r?t.target.handler:"",target:r?"":F(A(s,"target")),payload:o==="null"?"":F(q(o)),priority:t.priority==="medium"?"":t.priority,name:t.name??"",namespace:t.namespace==="default"?"":t.namespace,tags:Object.entries(t.tags??{}).map(([l,i])=>`${l}:${i}`).join(", "),max_attempts:t.retry.max_attempts===5?"":String(t.retry.max_attempts),timeout:t.timeout===60?"":String(t.timeout)}}var Ce=1e3,Qe=560,ze=64,v=26,S=16,Ye=110,Ie=4,Ve=.35;function Xe(e,n,t){let s=[],r=x(e.created_at);for(let l of n){let i=x(l.started_at),c=i-Math.max(l.drift_ms??0,0);c>r&&s.push({kind:"wait",from:r,to:c}),i>c&&s.push({kind:"drift",from:Math.max(c,r),to:i,ms:l.drift_ms}),r=l.finished_at?x(l.finished_at):Math.max(t,i),s.push({kind:"attempt",from:i,to:r,attempt:l})}let o=x(e.due_at);return["PENDING","ENQUEUED","RETRYING","WAITING"].includes(e.status)&&(o>r&&s.push({kind:"wait",from:r,to:o}),s.push({kind:"due",from:Math.max(o,r),to:Math.max(o,r)})),s}function Ze(e,n=Ce){let t=e.filter(({kind:d})=>d!=="wait").reduce((d,{from:$,to:p})=>d+Math.max(p-$,0),0),s=Math.max(t*Ve,1),r=e.map((d,$)=>{let p=Math.max(d.to-d.from,0);if(d.kind==="due")return{...d,ms:0,fixed:10};if($===0&&d.kind==="wait")return{...d,ms:p,fixed:Ye,cut:p>s};let m=d.kind==="wait"&&p>s;return{...d,ms:p,scaled:m?s:p,cut:m}}),o=r.reduce((d,$)=>d+($.fixed??($.kind==="attempt"?Ie:0)),0),l=r.reduce((d,$)=>d+($.scaled??0),0)||1,i=Math.max(n-o-2,0)/l,c=1;return r.map(d=>{let $=d.fixed??d.scaled*i+(d.kind==="attempt"?Ie:0),p={...d,x:c,width:$};return c+=$,p})}function De({task:e,attempts:n,now:t,chosen:s,onChoose:r}){let o=matchMedia("(max-width: 640px)").matches?Qe:Ce,l=Ze(Xe(e,n,t),o),i=n.length?`${n.length} ${n.length===1?"attempt":"attempts"} of this task`:"No attempt yet";return a`
    <div class="timeline-box"><svg class="timeline" viewBox=${`0 0 ${o} ${ze}`} role="img" aria-label=${i}>
      <title>${i}</title>
      <circle class="start" cx="5" cy=${v+S/2} r="4"><title>submitted ${ae(e.created_at)}</title></circle>
      ${l.map((c,d)=>a`<${Ke} key=${d} ...${{span:c,chosen:s,onChoose:r}} />`)}
    </svg></div>`}function Ke({span:e,chosen:n,onChoose:t}){let{kind:s,x:r,width:o,ms:l,cut:i}=e,c=v+S/2;return s==="attempt"?a`<${et} ...${{span:e,chosen:n,onChoose:t}} />`:s==="due"?a`<g class="due"><line x1=${r} x2=${r} y1=${v-8} y2=${v+S+8} /><text x=${r-6} y=${v-10} text-anchor="end">due ${ae(e.from)}</text></g>`:s==="drift"?a`<g class="drift"><title>drift ${b(l)}</title><line x1=${r} x2=${r} y1=${v-4} y2=${v+S+4} /><line x1=${r} x2=${r+o} y1=${c} y2=${c} /></g>`:a`
    <g class="wait"><title>${b(l)} until due</title><line x1=${r+(r<2?9:0)} x2=${r+o} y1=${c} y2=${c} />
      ${i&&a`<path d=${`M${r+o/2-5} ${c+6} l4 -12 m3 0 l-4 12`} />`}
      ${o>64&&a`<text x=${r+o/2} y=${c-10} text-anchor="middle">${b(l)}</text>`}</g>`}function et({span:e,chosen:n,onChoose:t}){let{attempt:s,x:r,width:o,ms:l}=e,{number:i,outcome:c}=s,d=`Attempt ${i}: ${(c??"running").replaceAll("_"," ")}, ${b(l)}`,$=()=>t(i);return a`
    <g class=${`attempt tone-${Ne(c??"running")} ${n===i?"chosen":""}`} onClick=${$}>
      <title>${d}</title>
      <rect class="hit" x=${r-4} width=${o+8} y=${v-8} height=${S+16} />
      <rect class=${c?"bar":"bar open"} x=${r} width=${o} y=${v} height=${S} rx="3" />
      ${o>14&&a`<text class="in" x=${r+o/2} y=${v+S/2+4} text-anchor="middle">${i}</text>`}
      ${o>46&&a`<text x=${r+o/2} y=${v+S+15} text-anchor="middle">${b(l)}</text>`}
    </g>`}var tt=16*1024,Re=256*1024,Q=["PENDING","ENQUEUED","RETRYING"],at=[...Q,"RUNNING","WAITING"];async function nt(e){let n=await O("GET",e,{text:!0});return{task:JSON.parse(n),source:q(n)}}function st({id:e}){let n=R(`tasks/${encodeURIComponent(e)}`,{},{load:nt}),t=R(`tasks/${encodeURIComponent(e)}/attempts`,{},{load:ot}),s=()=>Promise.all([n.reload(),t.reload()]),[r,o]=g(null);return H({topic:"task",task_id:e},l=>l.type==="progress"?o(l.progress):s()),n.problem?.status===404?a`<${D} alone title="There is no such task"><p><code>${e}</code></p><p>It was never submitted, or has been removed since its end.</p><a class="button" href=${y("/tasks")}>Tasks</a></${D}>`:a`<${N} read=${n} rows=${8}>${({task:l,source:i})=>a`
    <${rt} task=${r&&l.status==="RUNNING"?{...l,progress:r}:l} source=${i} attempts=${t.data??[]} problem=${t.problem} reload=${s} />`}</${N}>`}async function ot(e){let n=[],t=null;do{let s=await le(e,{limit:100,cursor:t});n.push(...s.items),t=s.next_cursor}while(t&&n.length<1e3);return n}function rt({task:e,source:n,attempts:t,problem:s,reload:r}){let o=Number(T.value.get("attempt"))||t.at(-1)?.number,l=d=>xe({attempt:d},{replace:!0}),i=d=>{let $=t.findIndex(({number:p})=>p===o)+d;t[$]&&l(t[$].number)};V({"[":()=>i(-1),"]":()=>i(1)});let c=e.status==="RUNNING";return a`
    <div class="page-head">
      <h1 class="task-name">${_(e)}</h1><${te} status=${e.status} />
      ${e.cancel_requested&&c&&a`<${k} tone="amber">asked to stop</${k}>`}
      <${Te} task=${e} />
      ${C("operate")&&a`<${pt} task=${e} reload=${r} />`}
    </div>
    <p class="quiet ids"><code>${e.id}</code><${X} text=${e.id} name="id" /></p>
    <div class="stack">
      <section class="panel" aria-label="Timeline"><div class="body">
        <${it} task=${e} attempts=${t} />
        <${De} task=${e} attempts=${t} now=${c?ue.value:pe()} chosen=${o} onChoose=${l} />
        ${c&&e.progress&&a`<${lt} progress=${e.progress} />`}
      </div></section>
      <div class="split">
        <div class="stack">
          ${e.error&&a`<${ct} task=${e} attempt=${t.find(({number:d})=>d===o)} />`}
          <${dt} attempts=${t} chosen=${o} choose=${l} problem=${s} />
          <${ke} task=${e} source=${n} name="payload" />
          ${(e.status==="SUCCEEDED"||e.result!==null||e.not_shown?.result)&&a`<${ke} task=${e} source=${n} name="result" />`}
        </div>
        <div class="stack"><${$t} task=${e} /><${ut} source=${n} /></div>
      </div>
    </div>`}function it({task:e,attempts:n}){let t=`attempt ${Y(e.attempt,e.retry.max_attempts," of ")}`,s=n.at(-1),r=s?.finished_at?b(x(s.finished_at)-x(s.started_at)):null,o=a`<${h} at=${e.due_at} />`,l=a`<${h} at=${e.due_at} as="relative" />`,i=a`<${h} at=${e.finished_at} />`,c={PENDING:a`Starts ${l}, at ${o}.`,ENQUEUED:a`Due ${l}, at ${o}; it is in the ${e.lane} lane.`,RUNNING:a`Runs since <${h} at=${e.started_at} />, ${t}.`,RETRYING:a`${e.attempt===0?"Starts":`Attempt ${e.attempt} failed. The next one starts`} ${l}, at ${o}.`,WAITING:a`Waits since the end of ${t}.`,SUCCEEDED:a`Succeeded at ${i}, ${t}${r&&a` in ${r}`}${e.drift_ms!==null&&a`, ${b(e.drift_ms)} after it was due`}.`,DEAD:a`Out of attempts, or failed for good, at ${i}: ${t}.`,CANCELLED:a`Cancelled at ${i}${e.reason&&a`: ${$e[e.reason]??e.reason}`}.`,EXPIRED:a`Not started by <${h} at=${e.expires_at} />, so it expired.`};return a`<p class="sentence">${c[e.status]}</p>`}function lt({progress:{fraction:e,message:n}}){return a`<div class="progress"><${ye} share=${e??0} title="Progress" /><p class="quiet">${e!==null&&`${Math.round(e*100)} % `}${n}</p></div>`}function ct({task:e,attempt:n}){let t=n?.error??e.error,s=[`${t.type}: ${t.message}`,t.traceback].filter(Boolean).join(`

`);return a`
    <section class="panel error" aria-label="Error">
      <div class="head"><h2>Error</h2><span class="quiet">attempt ${Y(n?.error?n.number:e.error.attempt,e.retry.max_attempts," of ")}</span><${X} text=${s} name="error" /></div>
      <div class="body"><p><strong class="tone-red error-type">${t.type}</strong></p><pre class="message">${t.message}</pre>
        ${t.traceback&&a`<details open><summary>Traceback</summary><pre class="traceback" tabindex="0">${t.traceback}</pre></details>`}</div>
    </section>`}function dt({attempts:e,chosen:n,choose:t,problem:s}){let r=e.find(({number:o})=>o===n);return a`
    <section class="panel" aria-label="Attempts">
      <div class="head"><h2>Attempts</h2></div>
      ${s&&a`<div class="body"><${M} problem=${s} /></div>`}
      ${e.length?a`<div class="scroll"><table class="rows attempts"><thead><tr><th scope="col" class="narrow">No.</th><th scope="col">Outcome</th><th scope="col">Started</th><th scope="col" class="number">Drift</th><th scope="col" class="number">Took</th><th scope="col">Error</th></tr></thead>
        <tbody>${[...e].reverse().slice(0,100).map(o=>a`
          <tr key=${o.number} class=${`opens ${o.number===n?"selected":""}`} onClick=${()=>t(o.number)}>
            <td class="narrow bare"><button class="link" aria-pressed=${o.number===n} onClick=${()=>t(o.number)}>${o.number}</button></td>
            <td class="bare"><${te} status=${o.outcome??"running"} /></td>
            <td data-label="Started"><${h} at=${o.started_at} as="ms" /></td>
            <td class="number" data-label="Drift">${b(o.drift_ms)}</td>
            <td class="number" data-label="Took">${o.finished_at?b(x(o.finished_at)-x(o.started_at)):"–"}</td>
            <td class="quiet bare">${o.error?.type}</td>
          </tr>`)}</tbody></table></div>`:a`<${D} title="Not started yet" />`}
      ${r?.log&&a`<div class="body"><h3>Log of attempt ${r.number}</h3><pre class="log" tabindex="0">${r.log}</pre></div>`}
    </section>`}function ke({task:e,source:n,name:t}){let[s,r]=g(null),o=A(n,t),l=e.not_shown?.[t],i=l||!o?null:L(o),c=t==="payload"?"Payload":"Result",d=s??i,$=d===null?null:new Blob([d]).size,p=async()=>{try{r(await O("GET",`tasks/${e.id}/${t}`,{text:!0}))}catch(E){P(E.message,"red")}},m=a`<a class="button small" href=${`/v1/tasks/${e.id}/${t}`} download=${`${e.id}-${t}.json`}><${j} name="download" />Download</a>`,[B,J]=g(!1),f=Number(/^([\d,]+) bytes/.exec(l??"")?.[1].replaceAll(",","")??0);return a`
    <section class="panel" aria-label=${c}>
      <div class="head"><h2>${c}</h2><span class="quiet">${l&&!s?f?U(f):l:$!==null&&d!=="null"?U($):""}</span></div>
      <div class="body">${l&&!s?a`<p class="row">${f<=Re&&a`<button class="small" onClick=${p}>Load ${U(f)}</button>`}${m}</p>`:d==="null"||d===null?a`<p class="quiet">None</p>`:$>Re?a`<p class="row">${m}</p>`:d.length>tt&&!B?a`<p class="row"><button class="small" onClick=${()=>J(!0)}>Show ${U($)}</button>${m}</p>`:a`<${se} text=${d} name=${t} />`}</div>
    </section>`}function $t({task:e}){let n=Object.entries(e.tags??{}),t=[["Namespace",a`<a href=${y("/tasks",{ns:e.namespace})}>${e.namespace}</a>`],["Lane",a`${e.lane}${e.promoted_at&&a` <span class="quiet">promoted <${h} at=${e.promoted_at} /></span>`}`],e.pool&&["Pool",a`<code>${e.pool}</code>`],["Submitted",a`<${h} at=${e.created_at} as="stamp" />`],["Run at",a`<${h} at=${e.run_at} as="stamp" />`],Q.includes(e.status)&&["Due",a`<${h} at=${e.due_at} as="stamp" />`],e.finished_at&&["Ended",a`<${h} at=${e.finished_at} as="stamp" />`],e.expires_at&&["Expires",a`<${h} at=${e.expires_at} as="stamp" />`],["Timeout",b(e.timeout*1e3)],["Retries",`${I(e.retry.max_attempts,"attempt")}, ${e.retry.base_delay} s × ${e.retry.multiplier}ⁿ, at most ${b(e.retry.max_delay*1e3)}`],e.schedule_id&&["Schedule",a`<a href=${y(`/schedules/${e.schedule_id}`)}>${e.schedule_id}</a> <span class="quiet"><${h} at=${e.scheduled_for} /></span>`],e.run_id&&["Run",a`<a href=${y(`/runs/${e.run_id}`)}>${e.run_id}</a> <span class="quiet">step ${e.step}${e.index!==null&&` [${e.index}]`}</span>`],e.parent_id&&["Submitted by",a`<a href=${y(`/tasks/${e.parent_id}`)}>${e.parent_id}</a>`],e.unique&&["Unique",a`<code>${e.unique.key}</code> while ${e.unique.while}`],e.ordering_key&&["Ordering key",a`<code>${e.ordering_key}</code>`],e.fairness_key&&["Fairness key",a`<code>${e.fairness_key}</code>`],e.idempotency_key&&["Idempotency key",a`<code>${e.idempotency_key}</code>`],e.limits?.length&&["Limits",e.limits.map(s=>a`<${k} key=${s.name}>${s.name}${s.key&&`: ${s.key}`}</${k}> `)],n.length&&["Tags",n.map(([s,r])=>a`<a key=${s} href=${y("/tasks",{tag:`${s}:${r}`})}><${k}>${s}: ${r}</${k}></a> `)]].filter(Boolean);return a`<section class="panel" aria-label="Details"><div class="head"><h2>Details</h2></div>
    <dl class="body facts">${t.map(([s,r])=>a`<dt key=${s}>${s}</dt><dd>${r}</dd>`)}</dl></section>`}function ut({source:e}){let n=A(e,"target");return a`<section class="panel" aria-label="Target"><div class="head"><h2>Target</h2></div><div class="body">${n&&a`<${se} text=${L(n)} name="target" />`}</div></section>`}function pt({task:e,reload:n}){let[t,s]=g(!1),{id:r,status:o}=e,l=async({title:c,text:d,action:$,danger:p,request:m,code:B,done:J})=>{await he({title:c,action:$,danger:p,run:async()=>await m()??!0,text:a`<p>${d}</p><${Z} call=${B} />`})!==void 0&&(P(J),await n())},i={retry:o==="DEAD"&&(()=>l({title:`Retry ${_(e)}?`,text:`It gets ${I(e.retry.max_attempts,"new attempt")} and starts now.`,action:"Retry",request:()=>z(`tasks/${r}/retry`),done:"Retried",code:{method:"POST",path:`tasks/${r}/retry`,call:`client.retry("${r}")`}})),cancel:at.includes(o)&&!(o==="RUNNING"&&e.cancel_requested)&&(()=>l({title:`Cancel ${_(e)}?`,text:o==="RUNNING"?"It is running and is asked to stop.":"It will not start.",action:"Cancel the task",danger:!0,request:()=>de(`tasks/${r}`),done:o==="RUNNING"?"Asked to stop":"Cancelled",code:{method:"DELETE",path:`tasks/${r}`,call:`client.cancel("${r}")`}})),run:Q.includes(o)&&(()=>l({title:`Run ${_(e)} now?`,text:"It becomes due now, without jitter.",action:"Run now",request:()=>z(`tasks/${r}/run`),done:"Due now",code:{method:"POST",path:`tasks/${r}/run`,call:`client.run("${r}")`}})),change:Q.includes(o)&&(()=>s(!0))};return V({...i.retry&&{r:i.retry},...i.cancel&&{c:i.cancel},...i.change&&{e:i.change}}),a`
    <div class="actions">
      ${i.retry&&a`<button class="primary" onClick=${i.retry}><${j} name="refresh" />Retry</button>`}
      ${i.run&&a`<button onClick=${i.run}><${j} name="play" />Run now</button>`}
      ${i.change&&a`<button onClick=${i.change}>Change</button>`}
      ${i.cancel&&a`<button onClick=${i.cancel}><${j} name="cross" />Cancel</button>`}
      <a class="button" href=${y("/new",{from:r,handler:""})}>Edit and submit again</a>
    </div>
    ${t&&a`<${mt} task=${e} onClose=${c=>{s(!1),c&&n()}} />`}`}function mt({task:e,onClose:n}){let[t,s]=g({run_at:ne(e.due_at,"UTC"),priority:e.priority,timeout:String(e.timeout),max_attempts:String(e.retry.max_attempts)}),[r,o]=g({busy:!1,problem:null});me(!0);let l=ft(e,t),i=d=>({currentTarget:$})=>s({...t,[d]:$.value}),c=async d=>{d.preventDefault(),o({busy:!0,problem:null});try{await ce(`tasks/${e.id}`,l),P("Changed"),n(!0)}catch($){o({busy:!1,problem:$})}};return a`<${K} title=${`Change ${_(e)}`} onClose=${()=>n(!1)}>
    <form class="form" onSubmit=${c}>
      <div class="fields">
        <label class="field"><span>Due (UTC)</span><input type="datetime-local" value=${t.run_at} onInput=${i("run_at")} /></label>
        <label class="field"><span>Priority</span><select value=${t.priority} onChange=${i("priority")}>${["high","medium","low"].map(d=>a`<option key=${d}>${d}</option>`)}</select></label>
        <label class="field"><span>Timeout, seconds</span><input inputmode="decimal" value=${t.timeout} onInput=${i("timeout")} /></label>
        <label class="field"><span>Attempts in all</span><input inputmode="numeric" value=${t.max_attempts} onInput=${i("max_attempts")} /></label>
      </div>
      <${M} problem=${r.problem} />
      <${Z} call=${{method:"PATCH",path:`tasks/${e.id}`,body:l,call:`client.change("${e.id}", **${JSON.stringify(l)})`}} />
      <div class="dialog-actions"><button type="button" onClick=${()=>n(!1)}>Back</button><button class="primary" disabled=${r.busy||!Object.keys(l).length}>Change</button></div>
    </form></${K}>`}function ft(e,{run_at:n,priority:t,timeout:s,max_attempts:r}){let o={};return n&&n!==ne(e.due_at,"UTC")&&(o.run_at=`${n}:00Z`),t!==e.priority&&(o.priority=t),s!==String(e.timeout)&&(o.timeout=Number(s)),r!==String(e.retry.max_attempts)&&(o.retry={max_attempts:Number(r)}),o}export{Ae as Dead,Le as New,st as Task};
