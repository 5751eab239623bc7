import{d as fe,e as Z,f as be,h as ee,i as we}from"./chunk-HBOOSQUS.js";import{a as se}from"./chunk-3NNX344V.js";import{a as R,b as q,c as L,d as F}from"./chunk-VPAP55WX.js";import{c as ye}from"./chunk-CHX73XGT.js";import{$ as N,Ea as _,F as V,Ga as ae,I as ue,Ia as ne,J as pe,Ja as g,La as h,O as U,Q as H,R as me,T as j,U as A,X,Z as D,_ as M,b as v,ba as T,c as oe,ca as K,da as he,e as ie,ga as S,ha as b,i as a,ia as ge,ja as ve,ka as xe,l as le,m as z,na as P,o as ce,p as $e,q as I,r as W,s as C,sa as _e,ta as k,u as G,ua as Ne,va as te,w as Y,wa as y,x as w,y as de}from"./chunk-I6LSK2A5.js";var Re=100;function qe(){let e=P.value==="*"?void 0:P.value,n=_e({namespace:e}),[t,s]=v(null);H({topic:"tasks",filter:{status:["DEAD"]}},()=>n.reload());let o=S.value.get("group"),r=i=>{s(null),i&&n.reload()};if(n.problem?.status===404)return a`<div class="page-head"><h1>Dead letters</h1></div><${N}>This server does not group dead letters. <a href=${b("/tasks",{status:"DEAD"})}>List the dead tasks</a>.</${N}>`;let l=n.data?.items.reduce((i,c)=>i+c.count,0);return a`
    <div class="page-head"><h1>Dead letters</h1>${l>0&&a`<span class="quiet">${C(l,"task")}, ${C(n.data.items.length,"cause")}</span>`}
      ${U("operate")&&l>0&&a`<div class="actions">
        <button onClick=${()=>s({action:"redrive",body:e?{namespace:e}:{all:!0},what:a`<p>Every dead task${e&&a` of the namespace ${e}`}. Is each cause fixed?</p>`})}>Retry all …</button>
        <button onClick=${()=>s({action:"discard",body:e?{namespace:e}:{all:!0},what:a`<p>Gives up every dead task${e&&a` of the namespace ${e}`}. Each becomes cancelled and cannot be retried.</p>`})}>Discard all …</button></div>`}
    </div>
    <${T} read=${n} rows=${6}>${({items:i,complete:c,looked_at:$})=>i.length?a`
      ${c===!1&&a`<${N} tone="amber" icon="alert">Only the latest ${W($)} dead tasks were read.</${N}>`}
      <ul class="causes">${i.map(d=>a`<${Ae} key=${d.fingerprint} group=${d} open=${d.fingerprint===o} onAct=${s} />`)}</ul>`:a`<div class="panel"><${D} title="No dead tasks">A task that is out of attempts, or failed for good, is listed here.</${D}></div>`}</${T}>
    ${t&&a`<${be} ...${t} onClose=${r} />`}`}function Ae({group:e,open:n,onAct:t}){return a`
    <li class="panel cause">
      <div class="cause-head">
        <a class="cause-count" href=${ge({group:n?"":e.fingerprint})} aria-expanded=${n} aria-label=${`${C(e.count,"task")} of ${e.error_type}`}>${W(e.count)}</a>
        <div class="cause-text"><p><strong>${e.error_type}</strong> <span class="target">${e.target}</span></p><p class="quiet message">${e.message}</p></div>
        <div class="cause-times quiet"><span>first <${h} at=${e.first} /></span><span>last <${h} at=${e.last} /></span></div>
        <div class="row">
          ${U("operate")&&a`<button class="small primary" onClick=${()=>t({action:"redrive",body:ee(e),what:we(e)})}>Retry ${W(e.count)} …</button>`}
          <a class="button small" href=${b(`/tasks/${e.sample_id}`)}>Open one</a>
        </div>
      </div>
      ${n&&a`<${Pe} group=${e} />`}
    </li>`}function Pe({group:e}){let n=k("dead-letters",{fingerprint:e.fingerprint,namespace:ee(e).namespace,limit:Re});return a`<${T} read=${n}>${({items:t})=>a`<ul class="cause-tasks">${t.map(s=>a`
    <li key=${s.id}><a href=${b(`/tasks/${s.id}`)}>${w(s)}</a><span class="quiet"><${h} at=${s.finished_at} /></span><span class="quiet">${s.error?.message}</span></li>`)}</ul>`}</${T}>`}var Ge=["python","http","sqs","sns","eventbridge","lambda","stepfunctions","dynamodb","email","sql","workflow"],Te={sqs:{type:"sqs",queue_url:""},sns:{type:"sns",topic_arn:""},eventbridge:{type:"eventbridge",source:"",detail_type:""},lambda:{type:"lambda",function:""},stepfunctions:{type:"stepfunctions",state_machine_arn:""},dynamodb:{type:"dynamodb",table:""},email:{type:"email",to:""},sql:{type:"sql",database:"",statement:""},workflow:{type:"workflow",workflow:""}},Se={type:"python",handler:"",method:"POST",url:"",target:"",payload:"",when:"now",delay:"60",run_at:"",priority:"",name:"",namespace:"",tags:"",max_attempts:"",timeout:""};function Ue(){let e=S.value.get("from"),n=k("handlers",{},{again:!1}),[t,s]=v(()=>({...Se,handler:S.value.get("handler")??"",namespace:P.value==="*"?"":P.value})),[o,r]=v({busy:!1,problem:null});oe(()=>{e&&He(e).then(f=>s({...Se,...f}),f=>r({busy:!1,problem:f}))},[e]);let l=n.data?.items??[],i=n.data?.items.length===0,c=l.find(({name:f})=>f===t.handler),{body:$,errors:d}=ie(()=>Be(t),[t]),p={...d,...We(o.problem)},m=f=>({currentTarget:O})=>s({...t,[f]:O.value});return a`
    <div class="page-head"><h1>${e?"Submit again":"New task"}</h1></div>
    <div class="split even">
      <form class="panel form" onSubmit=${async f=>{if(f?.preventDefault(),!Object.keys(d).length){r({busy:!0,problem:null});try{let O=await I("POST","tasks",{body:$});A("Submitted"),ve(b(`/tasks/${O.id}`,{from:"",ns:S.value.get("ns")}))}catch(O){r({busy:!1,problem:O})}}}}>
        <div class="body form">
          <${Le} ...${{fields:t,set:m,wrong:p}} known=${l} none=${i} handler=${c} setFields=${s} />
          <${u} label="Payload, JSON" error=${p.payload} hint=${c?.doc}>
            <textarea rows="7" spellcheck=${!1} value=${t.payload} aria-invalid=${!!p.payload} placeholder='{"name": "Ada"}' onInput=${m("payload")}></textarea></${u}>
          ${c?.payload_schema&&a`<${je} schema=${c.payload_schema} fill=${f=>s({...t,payload:f})} />`}
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
          <${M} problem=${o.problem} />
          <div class="row"><button class="primary" disabled=${o.busy||Object.keys(d).length>0}>Submit</button></div>
        </div>
      </form>
      <section class="panel" aria-label="The same call"><div class="head"><h2>The same call</h2></div><div class="body">
        <${fe} call=${{method:"POST",path:"tasks",body:$,call:"client.submit(**)"}} /></div></section>
    </div>`}function u({label:e,hint:n,error:t,children:s}){return a`<label class="field"><span>${e}</span>${s}${n&&a`<span class="hint">${n}</span>`}${t&&a`<span class="error">${t}</span>`}</label>`}function Le({fields:e,set:n,wrong:t,known:s,none:o,handler:r,setFields:l}){let i=({currentTarget:{value:c}})=>l({...e,type:c,target:Te[c]?JSON.stringify(Te[c],null,2):""});return a`
    <div class="fields">
      <${u} label="Target"><select value=${e.type} onChange=${i}>${Ge.map(c=>a`<option key=${c}>${c}</option>`)}</select></${u}>
      ${e.type==="python"&&a`
        <${u} label="Handler" error=${t["target.handler"]} hint=${r?.module&&`${r.module}${r.line?`:${r.line}`:""}`}>
          <input list="handlers" value=${e.handler} required aria-invalid=${!!t["target.handler"]} placeholder="shop.restock" spellcheck=${!1} autocomplete="off" onInput=${n("handler")} /></${u}>
        <datalist id="handlers">${s.map(({name:c,doc:$})=>a`<option key=${c} value=${c}>${$}</option>`)}</datalist>`}
      ${e.type==="http"&&a`
        <${u} label="Method"><select value=${e.method} onChange=${n("method")}>${["POST","GET","PUT","PATCH","DELETE"].map(c=>a`<option key=${c}>${c}</option>`)}</select></${u}>`}
    </div>
    ${e.type==="http"&&a`<${u} label="URL" error=${t["target.url"]}><input type="url" value=${e.url} required placeholder="https://example.com/hook" aria-invalid=${!!t["target.url"]} onInput=${n("url")} /></${u}>`}
    ${e.target!==""&&a`<${u} label=${"Target, JSON"} error=${t.target}><textarea rows="6" spellcheck=${!1} value=${e.target} aria-invalid=${!!t.target} onInput=${n("target")}></textarea></${u}>`}
    ${o&&e.type==="python"&&a`<${N}>No handlers are registered. Start the runner with <code>duetime local --handlers handlers</code>.</${N}>`}`}function je({schema:e,fill:n}){let t=new Set(e.required??[]),s=Object.entries(e.properties??{});if(!s.length)return null;let o=Object.fromEntries(s.filter(([r])=>t.has(r)).map(([r,l])=>[r,Ee(l,e)]));return a`<div class="schema"><dl class="facts">${s.map(([r,l])=>a`<dt key=${r}><code>${r}</code></dt>
    <dd class="quiet">${re(l)}${t.has(r)?", required":l.default!==void 0?`, default ${JSON.stringify(l.default)}`:""}${l.description&&` · ${l.description}`}</dd>`)}</dl>
    <button type="button" class="small" onClick=${()=>n(JSON.stringify(o,null,2))}>Fill in</button></div>`}function re(e){return e.enum?e.enum.map(n=>JSON.stringify(n)).join(" | "):e.anyOf?e.anyOf.map(re).join(" | "):e.type==="array"?`list of ${re(e.items??{})}`:e.$ref?.split("/").pop()??e.format??e.type??"any"}var Me={string:"",integer:0,number:0,boolean:!1,array:[],object:{}};function Ee(e,n){let t=e.$ref&&n.$defs?.[e.$ref.split("/").pop()];return t?Ee(t,n):e.default!==void 0?e.default:e.enum?e.enum[0]:Me[e.type]??null}function Be(e){let n={},t=[],s=(i,c)=>t.push(`${JSON.stringify(i)}: ${c}`),o=(i,c)=>{try{s(i,F(R(c),"  "))}catch($){n[i]=`Not JSON: ${$.message}`}},r=(i,c,$=i)=>{c===""||Number.isNaN(Number(c))?n[$]="Not a number":s(i,String(Number(c)))};e.target?o("target",e.target):e.type==="http"?s("target",JSON.stringify({type:"http",url:e.url,...e.method!=="POST"&&{method:e.method}})):s("target",JSON.stringify({type:e.type,handler:e.handler})),e.payload.trim()&&o("payload",e.payload),e.when==="delay"&&r("delay",e.delay),e.when==="run_at"&&e.run_at&&s("run_at",JSON.stringify(`${e.run_at}:00Z`));for(let i of["priority","name","namespace"])e[i]&&s(i,JSON.stringify(e[i]));e.timeout&&r("timeout",e.timeout),e.max_attempts&&s("retry",JSON.stringify({max_attempts:Number(e.max_attempts)||0}));let l=Je(e.tags);return Object.keys(l).length&&s("tags",JSON.stringify(l)),{body:`{
  ${t.join(`,
  `)}
}`,errors:n}}function Je(e){let n=e.split(",").map(t=>t.trim()).filter(Boolean);return Object.fromEntries(n.map(t=>[t.split(":")[0].trim(),t.split(":").slice(1).join(":").trim()]))}var We=e=>Object.fromEntries((e?.errors??[]).map(({field:n,message:t})=>[n,t]));async function He(e){let n=await I("GET",`tasks/${e}`,{text:!0}),t=JSON.parse(n),s=R(n),o=t.target?.type==="python"&&Object.keys(t.target).length===2,r=L(q(s,"payload"));return t.not_shown?.payload&&(r=await I("GET",`tasks/${e}/payload`,{text:!0})),{type:t.target?.type??"python",handler:o?t.target.handler:"",target:o?"":F(q(s,"target")),payload:r==="null"?"":F(R(r)),priority:t.priority==="medium"?"":t.priority,name:t.name??"",namespace:t.namespace==="default"?"":t.namespace,tags:Object.entries(t.tags??{}).map(([l,i])=>`${l}:${i}`).join(", "),max_attempts:t.retry.max_attempts===5?"":String(t.retry.max_attempts),timeout:t.timeout===60?"":String(t.timeout)}}var Ie=1e3,Fe=560,Qe=64,x=26,E=16,ze=110,Oe=4,Ye=.35;function Ve(e,n,t){let s=[],o=_(e.created_at);for(let l of n){let i=_(l.started_at),c=i-Math.max(l.drift_ms??0,0);c>o&&s.push({kind:"wait",from:o,to:c}),i>c&&s.push({kind:"drift",from:Math.max(c,o),to:i,ms:l.drift_ms}),o=l.finished_at?_(l.finished_at):Math.max(t,i),s.push({kind:"attempt",from:i,to:o,attempt:l})}let r=_(e.due_at);return["PENDING","ENQUEUED","RETRYING","WAITING"].includes(e.status)&&(r>o&&s.push({kind:"wait",from:o,to:r}),s.push({kind:"due",from:Math.max(r,o),to:Math.max(r,o)})),s}function Xe(e,n=Ie){let t=e.filter(({kind:$})=>$!=="wait").reduce(($,{from:d,to:p})=>$+Math.max(p-d,0),0),s=Math.max(t*Ye,1),o=e.map(($,d)=>{let p=Math.max($.to-$.from,0);if($.kind==="due")return{...$,ms:0,fixed:10};if(d===0&&$.kind==="wait")return{...$,ms:p,fixed:ze,cut:p>s};let m=$.kind==="wait"&&p>s;return{...$,ms:p,scaled:m?s:p,cut:m}}),r=o.reduce(($,d)=>$+(d.fixed??(d.kind==="attempt"?Oe:0)),0),l=o.reduce(($,d)=>$+(d.scaled??0),0)||1,i=Math.max(n-r-2,0)/l,c=1;return o.map($=>{let d=$.fixed??$.scaled*i+($.kind==="attempt"?Oe:0),p={...$,x:c,width:d};return c+=d,p})}function Ce({task:e,attempts:n,now:t,chosen:s,onChoose:o}){let r=matchMedia("(max-width: 640px)").matches?Fe:Ie,l=Xe(Ve(e,n,t),r),i=n.length?`${n.length} ${n.length===1?"attempt":"attempts"} of this task`:"No attempt yet";return a`
    <div class="timeline-box"><svg class="timeline" viewBox=${`0 0 ${r} ${Qe}`} role="img" aria-label=${i}>
      <title>${i}</title>
      <circle class="start" cx="5" cy=${x+E/2} r="4"><title>submitted ${ae(e.created_at)}</title></circle>
      ${l.map((c,$)=>a`<${Ze} key=${$} ...${{span:c,chosen:s,onChoose:o}} />`)}
    </svg></div>`}function Ze({span:e,chosen:n,onChoose:t}){let{kind:s,x:o,width:r,ms:l,cut:i}=e,c=x+E/2;return s==="attempt"?a`<${Ke} ...${{span:e,chosen:n,onChoose:t}} />`:s==="due"?a`<g class="due"><line x1=${o} x2=${o} y1=${x-8} y2=${x+E+8} /><text x=${o-6} y=${x-10} text-anchor="end">due ${ae(e.from)}</text></g>`:s==="drift"?a`<g class="drift"><title>drift ${g(l)}</title><line x1=${o} x2=${o} y1=${x-4} y2=${x+E+4} /><line x1=${o} x2=${o+r} y1=${c} y2=${c} /></g>`:a`
    <g class="wait"><title>${g(l)} until due</title><line x1=${o+(o<2?9:0)} x2=${o+r} y1=${c} y2=${c} />
      ${i&&a`<path d=${`M${o+r/2-5} ${c+6} l4 -12 m3 0 l-4 12`} />`}
      ${r>64&&a`<text x=${o+r/2} y=${c-10} text-anchor="middle">${g(l)}</text>`}</g>`}function Ke({span:e,chosen:n,onChoose:t}){let{attempt:s,x:o,width:r,ms:l}=e,{number:i,outcome:c}=s,$=`Attempt ${i}: ${(c??"running").replaceAll("_"," ")}, ${g(l)}`,d=()=>t(i);return a`
    <g class=${`attempt tone-${Ne(c??"running")} ${n===i?"chosen":""}`} onClick=${d}>
      <title>${$}</title>
      <rect class="hit" x=${o-4} width=${r+8} y=${x-8} height=${E+16} />
      <rect class=${c?"bar":"bar open"} x=${o} width=${r} y=${x} height=${E} rx="3" />
      ${r>14&&a`<text class="in" x=${o+r/2} y=${x+E/2+4} text-anchor="middle">${i}</text>`}
      ${r>46&&a`<text x=${o+r/2} y=${x+E+15} text-anchor="middle">${g(l)}</text>`}
    </g>`}var et=16*1024,De=256*1024,Q=["PENDING","ENQUEUED","RETRYING"],tt=[...Q,"RUNNING","WAITING"];async function at(e){let n=await I("GET",e,{text:!0});return{task:JSON.parse(n),source:R(n)}}function nt({id:e}){let n=k(`tasks/${encodeURIComponent(e)}`,{},{load:at}),t=k(`tasks/${encodeURIComponent(e)}/attempts`,{},{load:st}),s=()=>Promise.all([n.reload(),t.reload()]),[o,r]=v(null);return H({topic:"task",task_id:e},l=>l.type==="progress"?r(l.progress):s()),n.problem?.status===404?a`<${D} alone title="There is no such task"><p><code>${e}</code></p><p>It was never submitted, or has been removed since its end.</p><a class="button" href=${b("/tasks")}>Tasks</a></${D}>`:a`<${T} read=${n} rows=${8}>${({task:l,source:i})=>a`
    <${rt} task=${o&&l.status==="RUNNING"?{...l,progress:o}:l} source=${i} attempts=${t.data??[]} problem=${t.problem} reload=${s} />`}</${T}>`}async function st(e){let n=[],t=null;do{let s=await le(e,{limit:100,cursor:t});n.push(...s.items),t=s.next_cursor}while(t&&n.length<1e3);return n}function rt({task:e,source:n,attempts:t,problem:s,reload:o}){let r=Number(S.value.get("attempt"))||t.at(-1)?.number,l=$=>xe({attempt:$},{replace:!0}),i=$=>{let d=t.findIndex(({number:p})=>p===r)+$;t[d]&&l(t[d].number)};V({"[":()=>i(-1),"]":()=>i(1)});let c=e.status==="RUNNING";return a`
    <div class="page-head">
      <h1 class="task-name">${w(e)}</h1><${te} status=${e.status} />
      ${e.cancel_requested&&c&&a`<${y} tone="amber">asked to stop</${y}>`}
      <${ot} task=${e} />
      ${U("operate")&&a`<${pt} task=${e} reload=${o} />`}
    </div>
    <p class="quiet ids"><code>${e.id}</code><${X} text=${e.id} name="id" /></p>
    <div class="stack">
      <section class="panel" aria-label="Timeline"><div class="body">
        <${it} task=${e} attempts=${t} />
        <${Ce} task=${e} attempts=${t} now=${c?ue.value:pe()} chosen=${r} onChoose=${l} />
        ${c&&e.progress&&a`<${lt} progress=${e.progress} />`}
      </div></section>
      <div class="split">
        <div class="stack">
          ${e.error&&a`<${ct} task=${e} attempt=${t.find(({number:$})=>$===r)} />`}
          <${$t} attempts=${t} chosen=${r} choose=${l} problem=${s} />
          <${ke} task=${e} source=${n} name="payload" />
          ${(e.status==="SUCCEEDED"||e.result!==null||e.not_shown?.result)&&a`<${ke} task=${e} source=${n} name="result" />`}
        </div>
        <div class="stack"><${dt} task=${e} /><${ut} source=${n} /></div>
      </div>
    </div>`}function ot({task:e}){let n=e.waiting_for;return n?n.limit?a`<${y} tone="amber">waits for the limit ${n.limit}${n.key&&` (${n.key})`}</${y}>`:n.ordering_key?a`<${y} tone="amber">waits behind ${n.ordering_key}</${y}>`:n.worker?a`<${y} tone="amber">waits for a worker with ${n.worker}${n.pool&&` in ${n.pool}`}</${y}>`:n.run?a`<a href=${b(`/runs/${n.run}`)}><${y} tone="violet">waits for a run</${y}></a>`:a`<${y} tone="violet">waits for a callback</${y}>`:null}function it({task:e,attempts:n}){let t=`attempt ${Y(e.attempt,e.retry.max_attempts," of ")}`,s=n.at(-1),o=s?.finished_at?g(_(s.finished_at)-_(s.started_at)):null,r=a`<${h} at=${e.due_at} />`,l=a`<${h} at=${e.due_at} as="relative" />`,i=a`<${h} at=${e.finished_at} />`,c={PENDING:a`Starts ${l}, at ${r}.`,ENQUEUED:a`Due ${l}, at ${r}; it is in the ${e.lane} lane.`,RUNNING:a`Runs since <${h} at=${e.started_at} />, ${t}.`,RETRYING:a`${e.attempt===0?"Starts":`Attempt ${e.attempt} failed. The next one starts`} ${l}, at ${r}.`,WAITING:a`Waits since the end of ${t}.`,SUCCEEDED:a`Succeeded at ${i}, ${t}${o&&a` in ${o}`}${e.drift_ms!==null&&a`, ${g(e.drift_ms)} after it was due`}.`,DEAD:a`Out of attempts, or failed for good, at ${i}: ${t}.`,CANCELLED:a`Cancelled at ${i}${e.reason&&a`: ${de[e.reason]??e.reason}`}.`,EXPIRED:a`Not started by <${h} at=${e.expires_at} />, so it expired.`};return a`<p class="sentence">${c[e.status]}</p>`}function lt({progress:{fraction:e,message:n}}){return a`<div class="progress"><${ye} share=${e??0} title="Progress" /><p class="quiet">${e!==null&&`${Math.round(e*100)} % `}${n}</p></div>`}function ct({task:e,attempt:n}){let t=n?.error??e.error,s=[`${t.type}: ${t.message}`,t.traceback].filter(Boolean).join(`

`);return a`
    <section class="panel error" aria-label="Error">
      <div class="head"><h2>Error</h2><span class="quiet">attempt ${Y(n?.error?n.number:e.error.attempt,e.retry.max_attempts," of ")}</span><${X} text=${s} name="error" /></div>
      <div class="body"><p><strong class="tone-red error-type">${t.type}</strong></p><pre class="message">${t.message}</pre>
        ${t.traceback&&a`<details open><summary>Traceback</summary><pre class="traceback" tabindex="0">${t.traceback}</pre></details>`}</div>
    </section>`}function $t({attempts:e,chosen:n,choose:t,problem:s}){let o=e.find(({number:r})=>r===n);return a`
    <section class="panel" aria-label="Attempts">
      <div class="head"><h2>Attempts</h2></div>
      ${s&&a`<div class="body"><${M} problem=${s} /></div>`}
      ${e.length?a`<div class="scroll"><table class="rows attempts"><thead><tr><th scope="col" class="narrow">No.</th><th scope="col">Outcome</th><th scope="col">Started</th><th scope="col" class="number">Drift</th><th scope="col" class="number">Took</th><th scope="col">Error</th></tr></thead>
        <tbody>${[...e].reverse().slice(0,100).map(r=>a`
          <tr key=${r.number} class=${`opens ${r.number===n?"selected":""}`} onClick=${()=>t(r.number)}>
            <td class="narrow bare"><button class="link" aria-pressed=${r.number===n} onClick=${()=>t(r.number)}>${r.number}</button></td>
            <td class="bare"><${te} status=${r.outcome??"running"} /></td>
            <td data-label="Started"><${h} at=${r.started_at} as="ms" /></td>
            <td class="number" data-label="Drift">${g(r.drift_ms)}</td>
            <td class="number" data-label="Took">${r.finished_at?g(_(r.finished_at)-_(r.started_at)):"–"}</td>
            <td class="quiet bare">${r.error?.type}</td>
          </tr>`)}</tbody></table></div>`:a`<${D} title="Not started yet" />`}
      ${o?.log&&a`<div class="body"><h3>Log of attempt ${o.number}</h3><pre class="log" tabindex="0">${o.log}</pre></div>`}
    </section>`}function ke({task:e,source:n,name:t}){let[s,o]=v(null),r=q(n,t),l=e.not_shown?.[t],i=l||!r?null:L(r),c=t==="payload"?"Payload":"Result",$=s??i,d=$===null?null:new Blob([$]).size,p=async()=>{try{o(await I("GET",`tasks/${e.id}/${t}`,{text:!0}))}catch(O){A(O.message,"red")}},m=a`<a class="button small" href=${`/v1/tasks/${e.id}/${t}`} download=${`${e.id}-${t}.json`}><${j} name="download" />Download</a>`,[B,J]=v(!1),f=Number(/^([\d,]+) bytes/.exec(l??"")?.[1].replaceAll(",","")??0);return a`
    <section class="panel" aria-label=${c}>
      <div class="head"><h2>${c}</h2><span class="quiet">${l&&!s?f?G(f):l:d!==null&&$!=="null"?G(d):""}</span></div>
      <div class="body">${l&&!s?a`<p class="row">${f<=De&&a`<button class="small" onClick=${p}>Load ${G(f)}</button>`}${m}</p>`:$==="null"||$===null?a`<p class="quiet">None</p>`:d>De?a`<p class="row">${m}</p>`:$.length>et&&!B?a`<p class="row"><button class="small" onClick=${()=>J(!0)}>Show ${G(d)}</button>${m}</p>`:a`<${se} text=${$} name=${t} />`}</div>
    </section>`}function dt({task:e}){let n=Object.entries(e.tags??{}),t=[["Namespace",a`<a href=${b("/tasks",{ns:e.namespace})}>${e.namespace}</a>`],["Lane",a`${e.lane}${e.promoted_at&&a` <span class="quiet">promoted <${h} at=${e.promoted_at} /></span>`}`],e.pool&&["Pool",a`<code>${e.pool}</code>`],["Submitted",a`<${h} at=${e.created_at} as="stamp" />`],["Run at",a`<${h} at=${e.run_at} as="stamp" />`],Q.includes(e.status)&&["Due",a`<${h} at=${e.due_at} as="stamp" />`],e.finished_at&&["Ended",a`<${h} at=${e.finished_at} as="stamp" />`],e.expires_at&&["Expires",a`<${h} at=${e.expires_at} as="stamp" />`],["Timeout",g(e.timeout*1e3)],["Retries",`${C(e.retry.max_attempts,"attempt")}, ${e.retry.base_delay} s × ${e.retry.multiplier}ⁿ, at most ${g(e.retry.max_delay*1e3)}`],e.schedule_id&&["Schedule",a`<a href=${b(`/schedules/${e.schedule_id}`)}>${e.schedule_id}</a> <span class="quiet"><${h} at=${e.scheduled_for} /></span>`],e.run_id&&["Run",a`<a href=${b(`/runs/${e.run_id}`)}>${e.run_id}</a> <span class="quiet">step ${e.step}${e.index!==null&&` [${e.index}]`}</span>`],e.parent_id&&["Submitted by",a`<a href=${b(`/tasks/${e.parent_id}`)}>${e.parent_id}</a>`],e.unique&&["Unique",a`<code>${e.unique.key}</code> while ${e.unique.while}`],e.ordering_key&&["Ordering key",a`<code>${e.ordering_key}</code>`],e.fairness_key&&["Fairness key",a`<code>${e.fairness_key}</code>`],e.idempotency_key&&["Idempotency key",a`<code>${e.idempotency_key}</code>`],e.limits?.length&&["Limits",e.limits.map(s=>a`<${y} key=${s.name}>${s.name}${s.key&&`: ${s.key}`}</${y}> `)],n.length&&["Tags",n.map(([s,o])=>a`<a key=${s} href=${b("/tasks",{tag:`${s}:${o}`})}><${y}>${s}: ${o}</${y}></a> `)]].filter(Boolean);return a`<section class="panel" aria-label="Details"><div class="head"><h2>Details</h2></div>
    <dl class="body facts">${t.map(([s,o])=>a`<dt key=${s}>${s}</dt><dd>${o}</dd>`)}</dl></section>`}function ut({source:e}){let n=q(e,"target");return a`<section class="panel" aria-label="Target"><div class="head"><h2>Target</h2></div><div class="body">${n&&a`<${se} text=${L(n)} name="target" />`}</div></section>`}function pt({task:e,reload:n}){let[t,s]=v(!1),{id:o,status:r}=e,l=async({title:c,text:$,action:d,danger:p,request:m,code:B,done:J})=>{await he({title:c,action:d,danger:p,run:async()=>await m()??!0,text:a`<p>${$}</p><${Z} call=${B} />`})!==void 0&&(A(J),await n())},i={retry:r==="DEAD"&&(()=>l({title:`Retry ${w(e)}?`,text:`It gets ${C(e.retry.max_attempts,"new attempt")} and starts now.`,action:"Retry",request:()=>z(`tasks/${o}/retry`),done:"Retried",code:{method:"POST",path:`tasks/${o}/retry`,call:`client.retry("${o}")`}})),cancel:tt.includes(r)&&!(r==="RUNNING"&&e.cancel_requested)&&(()=>l({title:`Cancel ${w(e)}?`,text:r==="RUNNING"?"It is running and is asked to stop.":"It will not start.",action:"Cancel the task",danger:!0,request:()=>$e(`tasks/${o}`),done:r==="RUNNING"?"Asked to stop":"Cancelled",code:{method:"DELETE",path:`tasks/${o}`,call:`client.cancel("${o}")`}})),run:Q.includes(r)&&(()=>l({title:`Run ${w(e)} now?`,text:"It becomes due now, without jitter.",action:"Run now",request:()=>z(`tasks/${o}/run`),done:"Due now",code:{method:"POST",path:`tasks/${o}/run`,call:`client.run("${o}")`}})),change:Q.includes(r)&&(()=>s(!0))};return V({...i.retry&&{r:i.retry},...i.cancel&&{c:i.cancel},...i.change&&{e:i.change}}),a`
    <div class="actions">
      ${i.retry&&a`<button class="primary" onClick=${i.retry}><${j} name="refresh" />Retry</button>`}
      ${i.run&&a`<button onClick=${i.run}><${j} name="play" />Run now</button>`}
      ${i.change&&a`<button onClick=${i.change}>Change</button>`}
      ${i.cancel&&a`<button onClick=${i.cancel}><${j} name="cross" />Cancel</button>`}
      <a class="button" href=${b("/new",{from:o,handler:""})}>Edit and submit again</a>
    </div>
    ${t&&a`<${mt} task=${e} onClose=${c=>{s(!1),c&&n()}} />`}`}function mt({task:e,onClose:n}){let[t,s]=v({run_at:ne(e.due_at,"UTC"),priority:e.priority,timeout:String(e.timeout),max_attempts:String(e.retry.max_attempts)}),[o,r]=v({busy:!1,problem:null});me(!0);let l=ft(e,t),i=$=>({currentTarget:d})=>s({...t,[$]:d.value}),c=async $=>{$.preventDefault(),r({busy:!0,problem:null});try{await ce(`tasks/${e.id}`,l),A("Changed"),n(!0)}catch(d){r({busy:!1,problem:d})}};return a`<${K} title=${`Change ${w(e)}`} onClose=${()=>n(!1)}>
    <form class="form" onSubmit=${c}>
      <div class="fields">
        <label class="field"><span>Due (UTC)</span><input type="datetime-local" value=${t.run_at} onInput=${i("run_at")} /></label>
        <label class="field"><span>Priority</span><select value=${t.priority} onChange=${i("priority")}>${["high","medium","low"].map($=>a`<option key=${$}>${$}</option>`)}</select></label>
        <label class="field"><span>Timeout, seconds</span><input inputmode="decimal" value=${t.timeout} onInput=${i("timeout")} /></label>
        <label class="field"><span>Attempts in all</span><input inputmode="numeric" value=${t.max_attempts} onInput=${i("max_attempts")} /></label>
      </div>
      <${M} problem=${o.problem} />
      <${Z} call=${{method:"PATCH",path:`tasks/${e.id}`,body:l,call:`client.change("${e.id}", **${JSON.stringify(l)})`}} />
      <div class="dialog-actions"><button type="button" onClick=${()=>n(!1)}>Back</button><button class="primary" disabled=${o.busy||!Object.keys(l).length}>Change</button></div>
    </form></${K}>`}function ft(e,{run_at:n,priority:t,timeout:s,max_attempts:o}){let r={};return n&&n!==ne(e.due_at,"UTC")&&(r.run_at=`${n}:00Z`),t!==e.priority&&(r.priority=t),s!==String(e.timeout)&&(r.timeout=Number(s)),o!==String(e.retry.max_attempts)&&(r.retry={max_attempts:Number(o)}),r}export{qe as Dead,Ue as New,nt as Task};
