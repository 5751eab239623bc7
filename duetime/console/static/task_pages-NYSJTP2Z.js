import{d as fe,e as Z,f as be,h as ee,i as we}from"./chunk-IHQF63MN.js";import{a as se}from"./chunk-LHVM5WKL.js";import{a as q,b as R,c as L,d as H}from"./chunk-VPAP55WX.js";import{c as ye}from"./chunk-RLQGD3QX.js";import{$ as N,Da as _,F as V,Fa as ae,Ha as ne,I as ue,Ia as g,J as pe,Ka as f,O as U,Q as F,R as me,T as j,U as A,X,Z as D,_ as M,b as v,ba as T,c as oe,ca as K,da as he,e as ie,ga as S,ha as y,i as a,ia as ge,ja as ve,ka as xe,l as le,m as z,na as P,o as ce,p as $e,q as C,r as W,ra as _e,s as I,sa as k,ta as Ne,u as G,ua as te,va as b,w as Y,x as w,y as de}from"./chunk-3Y3LNSNR.js";var qe=100;function Re(){let e=P.value==="*"?void 0:P.value,n=_e({namespace:e}),[t,s]=v(null);F({topic:"tasks",filter:{status:["DEAD"]}},()=>n.reload());let i=S.value.get("group"),r=l=>{s(null),l&&n.reload()};if(n.problem?.status===404)return a`<div class="page-head"><h1>Dead letters</h1></div><${N}>This server does not group dead letters. <a href=${y("/tasks",{status:"DEAD"})}>List the dead tasks</a>.</${N}>`;let c=n.data?.items.reduce((l,o)=>l+o.count,0);return a`
    <div class="page-head"><h1>Dead letters</h1>${c>0&&a`<span class="quiet">${I(c,"task")}, ${I(n.data.items.length,"cause")}</span>`}
      ${U("operate")&&c>0&&a`<div class="actions">
        <button onClick=${()=>s({action:"redrive",body:e?{namespace:e}:{all:!0},what:a`<p>Every dead task${e&&a` of the namespace ${e}`}. Is each cause fixed?</p>`})}>Redrive all …</button>
        <button onClick=${()=>s({action:"discard",body:e?{namespace:e}:{all:!0},what:a`<p>Gives up every dead task${e&&a` of the namespace ${e}`}. Each becomes cancelled and cannot be retried.</p>`})}>Discard all …</button></div>`}
    </div>
    <${T} read=${n} rows=${6}>${({items:l,complete:o,looked_at:$})=>l.length?a`
      ${o===!1&&a`<${N} tone="amber" icon="alert">Only the latest ${W($)} dead tasks were read.</${N}>`}
      <ul class="causes">${l.map(d=>a`<${Ae} key=${d.fingerprint} group=${d} open=${d.fingerprint===i} onAct=${s} />`)}</ul>`:a`<div class="panel"><${D} title="No dead tasks">A task that is out of attempts, or failed for good, is listed here.</${D}></div>`}</${T}>
    ${t&&a`<${be} ...${t} onClose=${r} />`}`}function Ae({group:e,open:n,onAct:t}){return a`
    <li class="panel cause">
      <div class="cause-head">
        <a class="cause-count" href=${ge({group:n?"":e.fingerprint})} aria-expanded=${n} aria-label=${`${I(e.count,"task")} of ${e.error_type}`}>${W(e.count)}</a>
        <div class="cause-text"><p><strong>${e.error_type}</strong> <span class="target">${e.target}</span></p><p class="quiet message">${e.message}</p></div>
        <div class="cause-times quiet"><span>first <${f} at=${e.first} /></span><span>last <${f} at=${e.last} /></span></div>
        <div class="row">
          ${U("operate")&&a`<button class="small primary" onClick=${()=>t({action:"redrive",body:ee(e),what:we(e)})}>Redrive ${W(e.count)} …</button>`}
          <a class="button small" href=${y(`/tasks/${e.sample_id}`)}>Open one</a>
        </div>
      </div>
      ${n&&a`<${Pe} group=${e} />`}
    </li>`}function Pe({group:e}){let n=k("dead-letters",{fingerprint:e.fingerprint,namespace:ee(e).namespace,limit:qe});return a`<${T} read=${n}>${({items:t})=>a`<ul class="cause-tasks">${t.map(s=>a`
    <li key=${s.id}><a href=${y(`/tasks/${s.id}`)}>${w(s)}</a><span class="quiet"><${f} at=${s.finished_at} /></span><span class="quiet">${s.error?.message}</span></li>`)}</ul>`}</${T}>`}var Ge=["python","http","sqs","sns","eventbridge","lambda","stepfunctions","dynamodb","email","sql","workflow"],Te={sqs:{type:"sqs",queue_url:""},sns:{type:"sns",topic_arn:""},eventbridge:{type:"eventbridge",source:"",detail_type:""},lambda:{type:"lambda",function:""},stepfunctions:{type:"stepfunctions",state_machine_arn:""},dynamodb:{type:"dynamodb",table:""},email:{type:"email",to:""},sql:{type:"sql",database:"",statement:""},workflow:{type:"workflow",workflow:""}},Se={type:"python",handler:"",method:"POST",url:"",target:"",payload:"",when:"now",delay:"60",run_at:"",priority:"",name:"",namespace:"",tags:"",max_attempts:"",timeout:""};function Ue(){let e=S.value.get("from"),n=k("handlers",{},{again:!1}),[t,s]=v(()=>({...Se,handler:S.value.get("handler")??"",namespace:P.value==="*"?"":P.value})),[i,r]=v({busy:!1,problem:null});oe(()=>{e&&Fe(e).then(m=>s({...Se,...m}),m=>r({busy:!1,problem:m}))},[e]);let c=n.data?.items??[],l=n.data?.items.length===0,o=c.find(({name:m})=>m===t.handler),{body:$,errors:d}=ie(()=>Be(t),[t]),p={...d,...We(i.problem)},h=m=>({currentTarget:O})=>s({...t,[m]:O.value});return a`
    <div class="page-head"><h1>${e?"Submit again":"New task"}</h1></div>
    <div class="split even">
      <form class="panel form" onSubmit=${async m=>{if(m?.preventDefault(),!Object.keys(d).length){r({busy:!0,problem:null});try{let O=await C("POST","tasks",{body:$});A("Submitted"),ve(y(`/tasks/${O.id}`,{from:"",ns:S.value.get("ns")}))}catch(O){r({busy:!1,problem:O})}}}}>
        <div class="body form">
          <${Le} ...${{fields:t,set:h,wrong:p}} known=${c} none=${l} handler=${o} setFields=${s} />
          <${u} label="Payload, JSON" error=${p.payload} hint=${o?.doc}>
            <textarea rows="7" spellcheck=${!1} value=${t.payload} aria-invalid=${!!p.payload} placeholder='{"name": "Ada"}' onInput=${h("payload")}></textarea></${u}>
          ${o?.payload_schema&&a`<${je} schema=${o.payload_schema} fill=${m=>s({...t,payload:m})} />`}
          <fieldset class="fields"><legend class="unseen">When</legend>
            <${u} label="When"><select value=${t.when} onChange=${h("when")}><option value="now">Now</option><option value="delay">After a delay</option><option value="run_at">At a time (UTC)</option></select></${u}>
            ${t.when==="delay"&&a`<${u} label="Delay, seconds" error=${p.delay}><input inputmode="decimal" value=${t.delay} aria-invalid=${!!p.delay} onInput=${h("delay")} /></${u}>`}
            ${t.when==="run_at"&&a`<${u} label="Time (UTC)" error=${p.run_at}><input type="datetime-local" value=${t.run_at} onInput=${h("run_at")} /></${u}>`}
            <${u} label="Priority"><select value=${t.priority} onChange=${h("priority")}><option value="">Default</option>${["high","medium","low"].map(m=>a`<option key=${m}>${m}</option>`)}</select></${u}>
          </fieldset>
          <details open=${!!(t.name||t.tags||t.max_attempts||t.timeout)}><summary>More</summary>
            <div class="fields more">
              <${u} label="Name" error=${p.name}><input value=${t.name} onInput=${h("name")} /></${u}>
              <${u} label="Namespace" error=${p.namespace}><input value=${t.namespace} placeholder="default" onInput=${h("namespace")} /></${u}>
              <${u} label="Attempts" error=${p["retry.max_attempts"]}><input inputmode="numeric" value=${t.max_attempts} placeholder="5" onInput=${h("max_attempts")} /></${u}>
              <${u} label="Timeout, seconds" error=${p.timeout}><input inputmode="decimal" value=${t.timeout} placeholder="60" onInput=${h("timeout")} /></${u}>
              <${u} label="Tags" error=${p.tags} hint="team:growth, kind:mail"><input value=${t.tags} onInput=${h("tags")} /></${u}>
            </div></details>
          <${M} problem=${i.problem} />
          <div class="row"><button class="primary" disabled=${i.busy||Object.keys(d).length>0}>Submit</button></div>
        </div>
      </form>
      <section class="panel" aria-label="The same call"><div class="head"><h2>The same call</h2></div><div class="body">
        <${fe} call=${{method:"POST",path:"tasks",body:$,call:"client.submit(**)"}} /></div></section>
    </div>`}function u({label:e,hint:n,error:t,children:s}){return a`<label class="field"><span>${e}</span>${s}${n&&a`<span class="hint">${n}</span>`}${t&&a`<span class="error">${t}</span>`}</label>`}function Le({fields:e,set:n,wrong:t,known:s,none:i,handler:r,setFields:c}){let l=({currentTarget:{value:o}})=>c({...e,type:o,target:Te[o]?JSON.stringify(Te[o],null,2):""});return a`
    <div class="fields">
      <${u} label="Target"><select value=${e.type} onChange=${l}>${Ge.map(o=>a`<option key=${o}>${o}</option>`)}</select></${u}>
      ${e.type==="python"&&a`
        <${u} label="Handler" error=${t["target.handler"]} hint=${r?.module&&`${r.module}${r.line?`:${r.line}`:""}`}>
          <input list="handlers" value=${e.handler} required aria-invalid=${!!t["target.handler"]} placeholder="shop.restock" spellcheck=${!1} autocomplete="off" onInput=${n("handler")} /></${u}>
        <datalist id="handlers">${s.map(({name:o,doc:$})=>a`<option key=${o} value=${o}>${$}</option>`)}</datalist>`}
      ${e.type==="http"&&a`
        <${u} label="Method"><select value=${e.method} onChange=${n("method")}>${["POST","GET","PUT","PATCH","DELETE"].map(o=>a`<option key=${o}>${o}</option>`)}</select></${u}>`}
    </div>
    ${e.type==="http"&&a`<${u} label="URL" error=${t["target.url"]}><input type="url" value=${e.url} required placeholder="https://example.com/hook" aria-invalid=${!!t["target.url"]} onInput=${n("url")} /></${u}>`}
    ${e.target!==""&&a`<${u} label=${"Target, JSON"} error=${t.target}><textarea rows="6" spellcheck=${!1} value=${e.target} aria-invalid=${!!t.target} onInput=${n("target")}></textarea></${u}>`}
    ${i&&e.type==="python"&&a`<${N}>No handlers are registered. Start the runner with <code>duetime local --handlers handlers</code>.</${N}>`}`}function je({schema:e,fill:n}){let t=new Set(e.required??[]),s=Object.entries(e.properties??{});if(!s.length)return null;let i=Object.fromEntries(s.filter(([r])=>t.has(r)).map(([r,c])=>[r,Ee(c,e)]));return a`<div class="schema"><dl class="facts">${s.map(([r,c])=>a`<dt key=${r}><code>${r}</code></dt>
    <dd class="quiet">${re(c)}${t.has(r)?", required":c.default!==void 0?`, default ${JSON.stringify(c.default)}`:""}${c.description&&` · ${c.description}`}</dd>`)}</dl>
    <button type="button" class="small" onClick=${()=>n(JSON.stringify(i,null,2))}>Fill in</button></div>`}function re(e){return e.enum?e.enum.map(n=>JSON.stringify(n)).join(" | "):e.anyOf?e.anyOf.map(re).join(" | "):e.type==="array"?`list of ${re(e.items??{})}`:e.$ref?.split("/").pop()??e.format??e.type??"any"}var Me={string:"",integer:0,number:0,boolean:!1,array:[],object:{}};function Ee(e,n){let t=e.$ref&&n.$defs?.[e.$ref.split("/").pop()];return t?Ee(t,n):e.default!==void 0?e.default:e.enum?e.enum[0]:Me[e.type]??null}function Be(e){let n={},t=[],s=(l,o)=>t.push(`${JSON.stringify(l)}: ${o}`),i=(l,o)=>{try{s(l,H(q(o),"  "))}catch($){n[l]=`Not JSON: ${$.message}`}},r=(l,o,$=l)=>{o===""||Number.isNaN(Number(o))?n[$]="Not a number":s(l,String(Number(o)))};e.target?i("target",e.target):e.type==="http"?s("target",JSON.stringify({type:"http",url:e.url,...e.method!=="POST"&&{method:e.method}})):s("target",JSON.stringify({type:e.type,handler:e.handler})),e.payload.trim()&&i("payload",e.payload),e.when==="delay"&&r("delay",e.delay),e.when==="run_at"&&e.run_at&&s("run_at",JSON.stringify(`${e.run_at}:00Z`));for(let l of["priority","name","namespace"])e[l]&&s(l,JSON.stringify(e[l]));e.timeout&&r("timeout",e.timeout),e.max_attempts&&s("retry",JSON.stringify({max_attempts:Number(e.max_attempts)||0}));let c=Je(e.tags);return Object.keys(c).length&&s("tags",JSON.stringify(c)),{body:`{
  ${t.join(`,
  `)}
}`,errors:n}}function Je(e){let n=e.split(",").map(t=>t.trim()).filter(Boolean);return Object.fromEntries(n.map(t=>[t.split(":")[0].trim(),t.split(":").slice(1).join(":").trim()]))}var We=e=>Object.fromEntries((e?.errors??[]).map(({field:n,message:t})=>[n,t]));async function Fe(e){let n=await C("GET",`tasks/${e}`,{text:!0}),t=JSON.parse(n),s=q(n),i=t.target?.type==="python"&&Object.keys(t.target).length===2,r=L(R(s,"payload"));return t.not_shown?.payload&&(r=await C("GET",`tasks/${e}/payload`,{text:!0})),{type:t.target?.type??"python",handler:i?t.target.handler:"",target:i?"":H(R(s,"target")),payload:r==="null"?"":H(q(r)),priority:t.priority==="medium"?"":t.priority,name:t.name??"",namespace:t.namespace==="default"?"":t.namespace,tags:Object.entries(t.tags??{}).map(([c,l])=>`${c}:${l}`).join(", "),max_attempts:t.retry.max_attempts===5?"":String(t.retry.max_attempts),timeout:t.timeout===60?"":String(t.timeout)}}var Ce=1e3,He=64,x=26,E=16,Qe=110,Oe=4,ze=.35;function Ye(e,n,t){let s=[],i=_(e.created_at);for(let c of n){let l=_(c.started_at),o=l-Math.max(c.drift_ms??0,0);o>i&&s.push({kind:"wait",from:i,to:o}),l>o&&s.push({kind:"drift",from:Math.max(o,i),to:l,ms:c.drift_ms}),i=c.finished_at?_(c.finished_at):Math.max(t,l),s.push({kind:"attempt",from:l,to:i,attempt:c})}let r=_(e.due_at);return["PENDING","ENQUEUED","RETRYING","WAITING"].includes(e.status)&&(r>i&&s.push({kind:"wait",from:i,to:r}),s.push({kind:"due",from:Math.max(r,i),to:Math.max(r,i)})),s}function Ve(e){let n=e.filter(({kind:o})=>o!=="wait").reduce((o,{from:$,to:d})=>o+Math.max(d-$,0),0),t=Math.max(n*ze,1),s=e.map((o,$)=>{let d=Math.max(o.to-o.from,0);if(o.kind==="due")return{...o,ms:0,fixed:10};if($===0&&o.kind==="wait")return{...o,ms:d,fixed:Qe,cut:d>t};let p=o.kind==="wait"&&d>t;return{...o,ms:d,scaled:p?t:d,cut:p}}),i=s.reduce((o,$)=>o+($.fixed??($.kind==="attempt"?Oe:0)),0),r=s.reduce((o,$)=>o+($.scaled??0),0)||1,c=Math.max(Ce-i-2,0)/r,l=1;return s.map(o=>{let $=o.fixed??o.scaled*c+(o.kind==="attempt"?Oe:0),d={...o,x:l,width:$};return l+=$,d})}function Ie({task:e,attempts:n,now:t,chosen:s,onChoose:i}){let r=Ve(Ye(e,n,t)),c=n.length?`${n.length} ${n.length===1?"attempt":"attempts"} of this task`:"No attempt yet";return a`
    <div class="timeline-box"><svg class="timeline" viewBox=${`0 0 ${Ce} ${He}`} role="img" aria-label=${c}>
      <title>${c}</title>
      <circle class="start" cx="5" cy=${x+E/2} r="4"><title>submitted ${ae(e.created_at)}</title></circle>
      ${r.map((l,o)=>a`<${Xe} key=${o} ...${{span:l,chosen:s,onChoose:i}} />`)}
    </svg></div>`}function Xe({span:e,chosen:n,onChoose:t}){let{kind:s,x:i,width:r,ms:c,cut:l}=e,o=x+E/2;return s==="attempt"?a`<${Ze} ...${{span:e,chosen:n,onChoose:t}} />`:s==="due"?a`<g class="due"><line x1=${i} x2=${i} y1=${x-8} y2=${x+E+8} /><text x=${i-6} y=${x-10} text-anchor="end">due ${ae(e.from)}</text></g>`:s==="drift"?a`<g class="drift"><title>drift ${g(c)}</title><line x1=${i} x2=${i} y1=${x-4} y2=${x+E+4} /><line x1=${i} x2=${i+r} y1=${o} y2=${o} /></g>`:a`
    <g class="wait"><title>${g(c)} until due</title><line x1=${i+(i<2?9:0)} x2=${i+r} y1=${o} y2=${o} />
      ${l&&a`<path d=${`M${i+r/2-5} ${o+6} l4 -12 m3 0 l-4 12`} />`}
      ${r>64&&a`<text x=${i+r/2} y=${o-10} text-anchor="middle">${g(c)}</text>`}</g>`}function Ze({span:e,chosen:n,onChoose:t}){let{attempt:s,x:i,width:r,ms:c}=e,{number:l,outcome:o}=s,$=`Attempt ${l}: ${(o??"running").replaceAll("_"," ")}, ${g(c)}`,d=()=>t(l);return a`
    <g class=${`attempt tone-${Ne(o??"running")} ${n===l?"chosen":""}`} onClick=${d}>
      <title>${$}</title>
      <rect class="hit" x=${i-4} width=${r+8} y=${x-8} height=${E+16} />
      <rect class=${o?"bar":"bar open"} x=${i} width=${r} y=${x} height=${E} rx="3" />
      ${r>14&&a`<text class="in" x=${i+r/2} y=${x+E/2+4} text-anchor="middle">${l}</text>`}
      ${r>46&&a`<text x=${i+r/2} y=${x+E+15} text-anchor="middle">${g(c)}</text>`}
    </g>`}var Ke=16*1024,De=256*1024,Q=["PENDING","ENQUEUED","RETRYING"],et=[...Q,"RUNNING","WAITING"];async function tt(e){let n=await C("GET",e,{text:!0});return{task:JSON.parse(n),source:q(n)}}function at({id:e}){let n=k(`tasks/${encodeURIComponent(e)}`,{},{load:tt}),t=k(`tasks/${encodeURIComponent(e)}/attempts`,{},{load:nt}),s=()=>Promise.all([n.reload(),t.reload()]),[i,r]=v(null);return F({topic:"task",task_id:e},c=>c.type==="progress"?r(c.progress):s()),n.problem?.status===404?a`<${D} alone title="There is no such task"><p><code>${e}</code></p><p>It was never submitted, or has been removed since its end.</p><a class="button" href=${y("/tasks")}>Tasks</a></${D}>`:a`<${T} read=${n} rows=${8}>${({task:c,source:l})=>a`
    <${st} task=${i&&c.status==="RUNNING"?{...c,progress:i}:c} source=${l} attempts=${t.data??[]} problem=${t.problem} reload=${s} />`}</${T}>`}async function nt(e){let n=[],t=null;do{let s=await le(e,{limit:100,cursor:t});n.push(...s.items),t=s.next_cursor}while(t&&n.length<1e3);return n}function st({task:e,source:n,attempts:t,problem:s,reload:i}){let r=Number(S.value.get("attempt"))||t.at(-1)?.number,c=$=>xe({attempt:$},{replace:!0}),l=$=>{let d=t.findIndex(({number:p})=>p===r)+$;t[d]&&c(t[d].number)};V({"[":()=>l(-1),"]":()=>l(1)});let o=e.status==="RUNNING";return a`
    <div class="page-head">
      <h1 class="task-name">${w(e)}</h1><${te} status=${e.status} />
      ${e.cancel_requested&&o&&a`<${b} tone="amber">asked to stop</${b}>`}
      <${rt} task=${e} />
      ${U("operate")&&a`<${ut} task=${e} reload=${i} />`}
    </div>
    <p class="quiet ids"><code>${e.id}</code><${X} text=${e.id} name="id" /></p>
    <div class="stack">
      <section class="panel" aria-label="Timeline"><div class="body">
        <${ot} task=${e} attempts=${t} />
        <${Ie} task=${e} attempts=${t} now=${o?ue.value:pe()} chosen=${r} onChoose=${c} />
        ${o&&e.progress&&a`<${it} progress=${e.progress} />`}
      </div></section>
      <div class="split">
        <div class="stack">
          ${e.error&&a`<${lt} task=${e} attempt=${t.find(({number:$})=>$===r)} />`}
          <${ct} attempts=${t} chosen=${r} choose=${c} problem=${s} />
          <${ke} task=${e} source=${n} name="payload" />
          ${(e.status==="SUCCEEDED"||e.result!==null||e.not_shown?.result)&&a`<${ke} task=${e} source=${n} name="result" />`}
        </div>
        <div class="stack"><${$t} task=${e} /><${dt} source=${n} /></div>
      </div>
    </div>`}function rt({task:e}){let n=e.waiting_for;return n?n.limit?a`<${b} tone="amber">waits for the limit ${n.limit}${n.key&&` (${n.key})`}</${b}>`:n.ordering_key?a`<${b} tone="amber">waits behind ${n.ordering_key}</${b}>`:n.run?a`<a href=${y(`/runs/${n.run}`)}><${b} tone="violet">waits for a run</${b}></a>`:a`<${b} tone="violet">waits for a callback</${b}>`:null}function ot({task:e,attempts:n}){let t=`attempt ${Y(e.attempt,e.retry.max_attempts," of ")}`,s=n.at(-1),i=s?.finished_at?g(_(s.finished_at)-_(s.started_at)):null,r=a`<${f} at=${e.due_at} />`,c=a`<${f} at=${e.due_at} as="relative" />`,l=a`<${f} at=${e.finished_at} />`,o={PENDING:a`Starts ${c}, at ${r}.`,ENQUEUED:a`Due ${c}, at ${r}; it is in the ${e.lane} lane.`,RUNNING:a`Runs since <${f} at=${e.started_at} />, ${t}.`,RETRYING:a`${e.attempt===0?"Starts":`Attempt ${e.attempt} failed. The next one starts`} ${c}, at ${r}.`,WAITING:a`Waits since the end of ${t}.`,SUCCEEDED:a`Succeeded at ${l}, ${t}${i&&a` in ${i}`}${e.drift_ms!==null&&a`, ${g(e.drift_ms)} after it was due`}.`,DEAD:a`Out of attempts, or failed for good, at ${l}: ${t}.`,CANCELLED:a`Cancelled at ${l}${e.reason&&a`: ${de[e.reason]??e.reason}`}.`,EXPIRED:a`Not started by <${f} at=${e.expires_at} />, so it expired.`};return a`<p class="sentence">${o[e.status]}</p>`}function it({progress:{fraction:e,message:n}}){return a`<div class="progress"><${ye} share=${e??0} title="Progress" /><p class="quiet">${e!==null&&`${Math.round(e*100)} % `}${n}</p></div>`}function lt({task:e,attempt:n}){let t=n?.error??e.error,s=[`${t.type}: ${t.message}`,t.traceback].filter(Boolean).join(`

`);return a`
    <section class="panel error" aria-label="Error">
      <div class="head"><h2>Error</h2><span class="quiet">attempt ${Y(n?.error?n.number:e.error.attempt,e.retry.max_attempts," of ")}</span><${X} text=${s} name="error" /></div>
      <div class="body"><p><strong class="tone-red error-type">${t.type}</strong></p><pre class="message">${t.message}</pre>
        ${t.traceback&&a`<details open><summary>Traceback</summary><pre class="traceback" tabindex="0">${t.traceback}</pre></details>`}</div>
    </section>`}function ct({attempts:e,chosen:n,choose:t,problem:s}){let i=e.find(({number:r})=>r===n);return a`
    <section class="panel" aria-label="Attempts">
      <div class="head"><h2>Attempts</h2></div>
      ${s&&a`<div class="body"><${M} problem=${s} /></div>`}
      ${e.length?a`<div class="scroll"><table class="rows attempts"><thead><tr><th scope="col" class="narrow">No.</th><th scope="col">Outcome</th><th scope="col">Started</th><th scope="col" class="number">Drift</th><th scope="col" class="number">Took</th><th scope="col">Error</th></tr></thead>
        <tbody>${[...e].reverse().slice(0,100).map(r=>a`
          <tr key=${r.number} class=${`opens ${r.number===n?"selected":""}`} onClick=${()=>t(r.number)}>
            <td class="narrow bare"><button class="link" aria-pressed=${r.number===n} onClick=${()=>t(r.number)}>${r.number}</button></td>
            <td class="bare"><${te} status=${r.outcome??"running"} /></td>
            <td data-label="Started"><${f} at=${r.started_at} as="ms" /></td>
            <td class="number" data-label="Drift">${g(r.drift_ms)}</td>
            <td class="number" data-label="Took">${r.finished_at?g(_(r.finished_at)-_(r.started_at)):"–"}</td>
            <td class="quiet bare">${r.error?.type}</td>
          </tr>`)}</tbody></table></div>`:a`<${D} title="Not started yet" />`}
      ${i?.log&&a`<div class="body"><h3>Log of attempt ${i.number}</h3><pre class="log" tabindex="0">${i.log}</pre></div>`}
    </section>`}function ke({task:e,source:n,name:t}){let[s,i]=v(null),r=R(n,t),c=e.not_shown?.[t],l=c||!r?null:L(r),o=t==="payload"?"Payload":"Result",$=s??l,d=$===null?null:new Blob([$]).size,p=async()=>{try{i(await C("GET",`tasks/${e.id}/${t}`,{text:!0}))}catch(O){A(O.message,"red")}},h=a`<a class="button small" href=${`/v1/tasks/${e.id}/${t}`} download=${`${e.id}-${t}.json`}><${j} name="download" />Download</a>`,[B,J]=v(!1),m=Number(/^([\d,]+) bytes/.exec(c??"")?.[1].replaceAll(",","")??0);return a`
    <section class="panel" aria-label=${o}>
      <div class="head"><h2>${o}</h2><span class="quiet">${c&&!s?m?G(m):c:d!==null&&$!=="null"?G(d):""}</span></div>
      <div class="body">${c&&!s?a`<p class="row">${m<=De&&a`<button class="small" onClick=${p}>Load ${G(m)}</button>`}${h}</p>`:$==="null"||$===null?a`<p class="quiet">None</p>`:d>De?a`<p class="row">${h}</p>`:$.length>Ke&&!B?a`<p class="row"><button class="small" onClick=${()=>J(!0)}>Show ${G(d)}</button>${h}</p>`:a`<${se} text=${$} name=${t} />`}</div>
    </section>`}function $t({task:e}){let n=Object.entries(e.tags??{}),t=[["Namespace",a`<a href=${y("/tasks",{ns:e.namespace})}>${e.namespace}</a>`],["Lane",a`${e.lane}${e.promoted_at&&a` <span class="quiet">promoted <${f} at=${e.promoted_at} /></span>`}`],["Submitted",a`<${f} at=${e.created_at} as="stamp" />`],["Run at",a`<${f} at=${e.run_at} as="stamp" />`],Q.includes(e.status)&&["Due",a`<${f} at=${e.due_at} as="stamp" />`],e.finished_at&&["Ended",a`<${f} at=${e.finished_at} as="stamp" />`],e.expires_at&&["Expires",a`<${f} at=${e.expires_at} as="stamp" />`],["Timeout",g(e.timeout*1e3)],["Retries",`${I(e.retry.max_attempts,"attempt")}, ${e.retry.base_delay} s × ${e.retry.multiplier}ⁿ, at most ${g(e.retry.max_delay*1e3)}`],e.schedule_id&&["Schedule",a`<a href=${y(`/schedules/${e.schedule_id}`)}>${e.schedule_id}</a> <span class="quiet"><${f} at=${e.scheduled_for} /></span>`],e.run_id&&["Run",a`<a href=${y(`/runs/${e.run_id}`)}>${e.run_id}</a> <span class="quiet">step ${e.step}${e.index!==null&&` [${e.index}]`}</span>`],e.parent_id&&["Submitted by",a`<a href=${y(`/tasks/${e.parent_id}`)}>${e.parent_id}</a>`],e.unique&&["Unique",a`<code>${e.unique.key}</code> while ${e.unique.while}`],e.ordering_key&&["Ordering key",a`<code>${e.ordering_key}</code>`],e.fairness_key&&["Fairness key",a`<code>${e.fairness_key}</code>`],e.idempotency_key&&["Idempotency key",a`<code>${e.idempotency_key}</code>`],e.limits?.length&&["Limits",e.limits.map(s=>a`<${b} key=${s.name}>${s.name}${s.key&&`: ${s.key}`}</${b}> `)],n.length&&["Tags",n.map(([s,i])=>a`<a key=${s} href=${y("/tasks",{tag:`${s}:${i}`})}><${b}>${s}: ${i}</${b}></a> `)]].filter(Boolean);return a`<section class="panel" aria-label="Details"><div class="head"><h2>Details</h2></div>
    <dl class="body facts">${t.map(([s,i])=>a`<dt key=${s}>${s}</dt><dd>${i}</dd>`)}</dl></section>`}function dt({source:e}){let n=R(e,"target");return a`<section class="panel" aria-label="Target"><div class="head"><h2>Target</h2></div><div class="body">${n&&a`<${se} text=${L(n)} name="target" />`}</div></section>`}function ut({task:e,reload:n}){let[t,s]=v(!1),{id:i,status:r}=e,c=async({title:o,text:$,action:d,danger:p,request:h,code:B,done:J})=>{await he({title:o,action:d,danger:p,run:async()=>await h()??!0,text:a`<p>${$}</p><${Z} call=${B} />`})!==void 0&&(A(J),await n())},l={retry:r==="DEAD"&&(()=>c({title:`Retry ${w(e)}?`,text:`It gets ${I(e.retry.max_attempts,"new attempt")} and starts now.`,action:"Retry",request:()=>z(`tasks/${i}/retry`),done:"Retried",code:{method:"POST",path:`tasks/${i}/retry`,call:`client.retry("${i}")`}})),cancel:et.includes(r)&&!(r==="RUNNING"&&e.cancel_requested)&&(()=>c({title:`Cancel ${w(e)}?`,text:r==="RUNNING"?"It is running and is asked to stop.":"It will not start.",action:"Cancel the task",danger:!0,request:()=>$e(`tasks/${i}`),done:r==="RUNNING"?"Asked to stop":"Cancelled",code:{method:"DELETE",path:`tasks/${i}`,call:`client.cancel("${i}")`}})),run:Q.includes(r)&&(()=>c({title:`Run ${w(e)} now?`,text:"It becomes due now, without jitter.",action:"Run now",request:()=>z(`tasks/${i}/run`),done:"Due now",code:{method:"POST",path:`tasks/${i}/run`,call:`client.run("${i}")`}})),change:Q.includes(r)&&(()=>s(!0))};return V({...l.retry&&{r:l.retry},...l.cancel&&{c:l.cancel},...l.change&&{e:l.change}}),a`
    <div class="actions">
      ${l.retry&&a`<button class="primary" onClick=${l.retry}><${j} name="refresh" />Retry</button>`}
      ${l.run&&a`<button onClick=${l.run}><${j} name="play" />Run now</button>`}
      ${l.change&&a`<button onClick=${l.change}>Change</button>`}
      ${l.cancel&&a`<button onClick=${l.cancel}><${j} name="cross" />Cancel</button>`}
      <a class="button" href=${y("/new",{from:i,handler:""})}>Edit and submit again</a>
    </div>
    ${t&&a`<${pt} task=${e} onClose=${o=>{s(!1),o&&n()}} />`}`}function pt({task:e,onClose:n}){let[t,s]=v({run_at:ne(e.due_at,"UTC"),priority:e.priority,timeout:String(e.timeout),max_attempts:String(e.retry.max_attempts)}),[i,r]=v({busy:!1,problem:null});me(!0);let c=mt(e,t),l=$=>({currentTarget:d})=>s({...t,[$]:d.value}),o=async $=>{$.preventDefault(),r({busy:!0,problem:null});try{await ce(`tasks/${e.id}`,c),A("Changed"),n(!0)}catch(d){r({busy:!1,problem:d})}};return a`<${K} title=${`Change ${w(e)}`} onClose=${()=>n(!1)}>
    <form class="form" onSubmit=${o}>
      <div class="fields">
        <label class="field"><span>Due (UTC)</span><input type="datetime-local" value=${t.run_at} onInput=${l("run_at")} /></label>
        <label class="field"><span>Priority</span><select value=${t.priority} onChange=${l("priority")}>${["high","medium","low"].map($=>a`<option key=${$}>${$}</option>`)}</select></label>
        <label class="field"><span>Timeout, seconds</span><input inputmode="decimal" value=${t.timeout} onInput=${l("timeout")} /></label>
        <label class="field"><span>Attempts in all</span><input inputmode="numeric" value=${t.max_attempts} onInput=${l("max_attempts")} /></label>
      </div>
      <${M} problem=${i.problem} />
      <${Z} call=${{method:"PATCH",path:`tasks/${e.id}`,body:c,call:`client.change("${e.id}", **${JSON.stringify(c)})`}} />
      <div class="dialog-actions"><button type="button" onClick=${()=>n(!1)}>Back</button><button class="primary" disabled=${i.busy||!Object.keys(c).length}>Change</button></div>
    </form></${K}>`}function mt(e,{run_at:n,priority:t,timeout:s,max_attempts:i}){let r={};return n&&n!==ne(e.due_at,"UTC")&&(r.run_at=`${n}:00Z`),t!==e.priority&&(r.priority=t),s!==String(e.timeout)&&(r.timeout=Number(s)),i!==String(e.retry.max_attempts)&&(r.retry={max_attempts:Number(i)}),r}export{Re as Dead,Ue as New,at as Task};
