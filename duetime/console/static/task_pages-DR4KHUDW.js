import{d as pe,e as V,f as he,h as Z,i as xe}from"./chunk-3OWE5CYC.js";import{a as ae}from"./chunk-YZGKPXWH.js";import{a as k,b as q,c as U,d as F}from"./chunk-VPAP55WX.js";import{c as fe}from"./chunk-4ARMN6DV.js";import{Ca as _,E as z,Ea as ee,Ga as te,H as $e,Ha as b,I as de,Ja as f,N as G,P as W,Q as ue,S as L,T as R,W as Y,Y as C,Z as j,_ as N,aa as T,b as g,ba as X,c as se,ca as me,e as re,fa as S,ga as h,ha as ye,i as a,ia as be,ja as ge,l as oe,m as Q,ma as A,o as ie,p as le,q as O,qa as ve,r as B,ra as I,s as J,sa as _e,ta as K,u as P,ua as y,w,x as ce}from"./chunk-FXU53DET.js";var ke=100;function qe(){let e=A.value==="*"?void 0:A.value,n=ve({namespace:e}),[t,s]=g(null);W({topic:"tasks",filter:{status:["DEAD"]}},()=>n.reload());let o=S.value.get("group"),r=l=>{s(null),l&&n.reload()};if(n.problem?.status===404)return a`<div class="page-head"><h1>Dead letters</h1></div><${N}>This server does not group dead letters. <a href=${h("/tasks",{status:"DEAD"})}>List the dead tasks</a>.</${N}>`;let c=n.data?.items.reduce((l,i)=>l+i.count,0);return a`
    <div class="page-head"><h1>Dead letters</h1>${c>0&&a`<span class="quiet">${J(c,"task")}, ${J(n.data.items.length,"cause")}</span>`}
      ${G("operate")&&c>0&&a`<div class="actions">
        <button onClick=${()=>s({action:"redrive",body:e?{namespace:e}:{all:!0},what:a`<p>Every dead task${e&&a` of the namespace ${e}`}. Is each cause fixed?</p>`})}>Redrive all …</button>
        <button onClick=${()=>s({action:"discard",body:e?{namespace:e}:{all:!0},what:a`<p>Gives up every dead task${e&&a` of the namespace ${e}`}. Each becomes cancelled and cannot be retried.</p>`})}>Discard all …</button></div>`}
    </div>
    <${T} read=${n} rows=${6}>${({items:l,complete:i,looked_at:$})=>l.length?a`
      ${i===!1&&a`<${N} tone="amber" icon="alert">Only the latest ${B($)} dead tasks were read.</${N}>`}
      <ul class="causes">${l.map(d=>a`<${Re} key=${d.fingerprint} group=${d} open=${d.fingerprint===o} onAct=${s} />`)}</ul>`:a`<div class="panel"><${C} title="No dead tasks">A task that is out of attempts, or failed for good, is listed here.</${C}></div>`}</${T}>
    ${t&&a`<${he} ...${t} onClose=${r} />`}`}function Re({group:e,open:n,onAct:t}){return a`
    <li class="panel cause">
      <div class="cause-head">
        <a class="cause-count" href=${ye({group:n?"":e.fingerprint})} aria-expanded=${n} aria-label=${`${J(e.count,"task")} of ${e.error_type}`}>${B(e.count)}</a>
        <div class="cause-text"><p><strong>${e.error_type}</strong> <span class="target">${e.target}</span></p><p class="quiet message">${e.message}</p></div>
        <div class="cause-times quiet"><span>first <${f} at=${e.first} /></span><span>last <${f} at=${e.last} /></span></div>
        <div class="row">
          ${G("operate")&&a`<button class="small primary" onClick=${()=>t({action:"redrive",body:Z(e),what:xe(e)})}>Redrive ${B(e.count)} …</button>`}
          <a class="button small" href=${h(`/tasks/${e.sample_id}`)}>Open one</a>
        </div>
      </div>
      ${n&&a`<${Ae} group=${e} />`}
    </li>`}function Ae({group:e}){let n=I("dead-letters",{fingerprint:e.fingerprint,namespace:Z(e).namespace,limit:ke});return a`<${T} read=${n}>${({items:t})=>a`<ul class="cause-tasks">${t.map(s=>a`
    <li key=${s.id}><a href=${h(`/tasks/${s.id}`)}>${w(s)}</a><span class="quiet"><${f} at=${s.finished_at} /></span><span class="quiet">${s.error?.message}</span></li>`)}</ul>`}</${T}>`}var Pe=["python","http","sqs","sns","eventbridge","lambda","stepfunctions","dynamodb","email","sql","workflow"],we={sqs:{type:"sqs",queue_url:""},sns:{type:"sns",topic_arn:""},eventbridge:{type:"eventbridge",source:"",detail_type:""},lambda:{type:"lambda",function:""},stepfunctions:{type:"stepfunctions",state_machine_arn:""},dynamodb:{type:"dynamodb",table:""},email:{type:"email",to:""},sql:{type:"sql",database:"",statement:""},workflow:{type:"workflow",workflow:""}},Ne={type:"python",handler:"",method:"POST",url:"",target:"",payload:"",when:"now",delay:"60",run_at:"",priority:"",name:"",namespace:"",tags:"",max_attempts:"",timeout:""};function Ge(){let e=S.value.get("from"),n=I("handlers",{},{again:!1}),[t,s]=g(()=>({...Ne,handler:S.value.get("handler")??"",namespace:A.value==="*"?"":A.value})),[o,r]=g({busy:!1,problem:null});se(()=>{e&&We(e).then(m=>s({...Ne,...m}),m=>r({busy:!1,problem:m}))},[e]);let c=n.data?.items??[],l=c.find(({name:m})=>m===t.handler),{body:i,errors:$}=re(()=>Me(t),[t]),d={...$,...Je(o.problem)},p=m=>({currentTarget:v})=>s({...t,[m]:v.value});return a`
    <div class="page-head"><h1>${e?"Submit again":"New task"}</h1></div>
    <div class="split even">
      <form class="panel form" onSubmit=${async m=>{if(m?.preventDefault(),!Object.keys($).length){r({busy:!0,problem:null});try{let v=await O("POST","tasks",{body:i});R("Submitted"),be(h(`/tasks/${v.id}`,{from:"",ns:S.value.get("ns")}))}catch(v){r({busy:!1,problem:v})}}}}>
        <div class="body form">
          <${Ue} ...${{fields:t,set:p,wrong:d}} known=${c} handler=${l} missing=${n.problem} setFields=${s} />
          <${u} label="Payload, JSON" error=${d.payload} hint=${l?.doc}>
            <textarea rows="7" spellcheck=${!1} value=${t.payload} aria-invalid=${!!d.payload} placeholder='{"name": "Ada"}' onInput=${p("payload")}></textarea></${u}>
          ${l?.payload_schema&&a`<${Le} schema=${l.payload_schema} fill=${m=>s({...t,payload:m})} />`}
          <fieldset class="fields"><legend class="unseen">When</legend>
            <${u} label="When"><select value=${t.when} onChange=${p("when")}><option value="now">Now</option><option value="delay">After a delay</option><option value="run_at">At a time (UTC)</option></select></${u}>
            ${t.when==="delay"&&a`<${u} label="Delay, seconds" error=${d.delay}><input inputmode="decimal" value=${t.delay} aria-invalid=${!!d.delay} onInput=${p("delay")} /></${u}>`}
            ${t.when==="run_at"&&a`<${u} label="Time (UTC)" error=${d.run_at}><input type="datetime-local" value=${t.run_at} onInput=${p("run_at")} /></${u}>`}
            <${u} label="Priority"><select value=${t.priority} onChange=${p("priority")}><option value="">Default</option>${["high","medium","low"].map(m=>a`<option key=${m}>${m}</option>`)}</select></${u}>
          </fieldset>
          <details open=${!!(t.name||t.tags||t.max_attempts||t.timeout)}><summary>More</summary>
            <div class="fields more">
              <${u} label="Name" error=${d.name}><input value=${t.name} onInput=${p("name")} /></${u}>
              <${u} label="Namespace" error=${d.namespace}><input value=${t.namespace} placeholder="default" onInput=${p("namespace")} /></${u}>
              <${u} label="Attempts" error=${d["retry.max_attempts"]}><input inputmode="numeric" value=${t.max_attempts} placeholder="5" onInput=${p("max_attempts")} /></${u}>
              <${u} label="Timeout, seconds" error=${d.timeout}><input inputmode="decimal" value=${t.timeout} placeholder="60" onInput=${p("timeout")} /></${u}>
              <${u} label="Tags" error=${d.tags} hint="team:growth, kind:mail"><input value=${t.tags} onInput=${p("tags")} /></${u}>
            </div></details>
          <${j} problem=${o.problem} />
          <div class="row"><button class="primary" disabled=${o.busy||Object.keys($).length>0}>Submit</button></div>
        </div>
      </form>
      <section class="panel" aria-label="The same call"><div class="head"><h2>The same call</h2></div><div class="body">
        <${pe} call=${{method:"POST",path:"tasks",body:i,call:"client.submit(**)"}} /></div></section>
    </div>`}function u({label:e,hint:n,error:t,children:s}){return a`<label class="field"><span>${e}</span>${s}${n&&a`<span class="hint">${n}</span>`}${t&&a`<span class="error">${t}</span>`}</label>`}function Ue({fields:e,set:n,wrong:t,known:s,handler:o,missing:r,setFields:c}){let l=({currentTarget:{value:i}})=>c({...e,type:i,target:we[i]?JSON.stringify(we[i],null,2):""});return a`
    <div class="fields">
      <${u} label="Target"><select value=${e.type} onChange=${l}>${Pe.map(i=>a`<option key=${i}>${i}</option>`)}</select></${u}>
      ${e.type==="python"&&a`
        <${u} label="Handler" error=${t["target.handler"]} hint=${o?.module&&`${o.module}${o.line?`:${o.line}`:""}`}>
          <input list="handlers" value=${e.handler} required aria-invalid=${!!t["target.handler"]} placeholder="shop.restock" spellcheck=${!1} autocomplete="off" onInput=${n("handler")} /></${u}>
        <datalist id="handlers">${s.map(({name:i,doc:$})=>a`<option key=${i} value=${i}>${$}</option>`)}</datalist>`}
      ${e.type==="http"&&a`
        <${u} label="Method"><select value=${e.method} onChange=${n("method")}>${["POST","GET","PUT","PATCH","DELETE"].map(i=>a`<option key=${i}>${i}</option>`)}</select></${u}>`}
    </div>
    ${e.type==="http"&&a`<${u} label="URL" error=${t["target.url"]}><input type="url" value=${e.url} required placeholder="https://example.com/hook" aria-invalid=${!!t["target.url"]} onInput=${n("url")} /></${u}>`}
    ${e.target!==""&&a`<${u} label=${"Target, JSON"} error=${t.target}><textarea rows="6" spellcheck=${!1} value=${e.target} aria-invalid=${!!t.target} onInput=${n("target")}></textarea></${u}>`}
    ${!r&&e.type==="python"&&s.length===0&&a`<${N}>No handlers are registered. Start the runner with <code>duetime local --handlers handlers</code>.</${N}>`}`}function Le({schema:e,fill:n}){let t=new Set(e.required??[]),s=Object.entries(e.properties??{});if(!s.length)return null;let o=Object.fromEntries(s.filter(([r])=>t.has(r)).map(([r,c])=>[r,Te(c,e)]));return a`<div class="schema"><dl class="facts">${s.map(([r,c])=>a`<dt key=${r}><code>${r}</code></dt>
    <dd class="quiet">${ne(c)}${t.has(r)?", required":c.default!==void 0?`, default ${JSON.stringify(c.default)}`:""}${c.description&&` · ${c.description}`}</dd>`)}</dl>
    <button type="button" class="small" onClick=${()=>n(JSON.stringify(o,null,2))}>Fill in</button></div>`}function ne(e){return e.enum?e.enum.map(n=>JSON.stringify(n)).join(" | "):e.anyOf?e.anyOf.map(ne).join(" | "):e.type==="array"?`list of ${ne(e.items??{})}`:e.$ref?.split("/").pop()??e.format??e.type??"any"}var je={string:"",integer:0,number:0,boolean:!1,array:[],object:{}};function Te(e,n){let t=e.$ref&&n.$defs?.[e.$ref.split("/").pop()];return t?Te(t,n):e.default!==void 0?e.default:e.enum?e.enum[0]:je[e.type]??null}function Me(e){let n={},t=[],s=(l,i)=>t.push(`${JSON.stringify(l)}: ${i}`),o=(l,i)=>{try{s(l,F(k(i),"  "))}catch($){n[l]=`Not JSON: ${$.message}`}},r=(l,i,$=l)=>{i===""||Number.isNaN(Number(i))?n[$]="Not a number":s(l,String(Number(i)))};e.target?o("target",e.target):e.type==="http"?s("target",JSON.stringify({type:"http",url:e.url,...e.method!=="POST"&&{method:e.method}})):s("target",JSON.stringify({type:e.type,handler:e.handler})),e.payload.trim()&&o("payload",e.payload),e.when==="delay"&&r("delay",e.delay),e.when==="run_at"&&e.run_at&&s("run_at",JSON.stringify(`${e.run_at}:00Z`));for(let l of["priority","name","namespace"])e[l]&&s(l,JSON.stringify(e[l]));e.timeout&&r("timeout",e.timeout),e.max_attempts&&s("retry",JSON.stringify({max_attempts:Number(e.max_attempts)||0}));let c=Be(e.tags);return Object.keys(c).length&&s("tags",JSON.stringify(c)),{body:`{
  ${t.join(`,
  `)}
}`,errors:n}}function Be(e){let n=e.split(",").map(t=>t.trim()).filter(Boolean);return Object.fromEntries(n.map(t=>[t.split(":")[0].trim(),t.split(":").slice(1).join(":").trim()]))}var Je=e=>Object.fromEntries((e?.errors??[]).map(({field:n,message:t})=>[n,t]));async function We(e){let n=await O("GET",`tasks/${e}`,{text:!0}),t=JSON.parse(n),s=k(n),o=t.target?.type==="python"&&Object.keys(t.target).length===2,r=U(q(s,"payload"));return t.not_shown?.payload&&(r=await O("GET",`tasks/${e}/payload`,{text:!0})),{type:t.target?.type??"python",handler:o?t.target.handler:"",target:o?"":F(q(s,"target")),payload:r==="null"?"":F(k(r)),priority:t.priority==="medium"?"":t.priority,name:t.name??"",namespace:t.namespace==="default"?"":t.namespace,tags:Object.entries(t.tags??{}).map(([c,l])=>`${c}:${l}`).join(", "),max_attempts:t.retry.max_attempts===5?"":String(t.retry.max_attempts),timeout:t.timeout===60?"":String(t.timeout)}}var Ee=1e3,Fe=64,x=26,E=16,He=110,Se=4,Qe=.35;function ze(e,n,t){let s=[],o=_(e.created_at);for(let c of n){let l=_(c.started_at),i=l-Math.max(c.drift_ms??0,0);i>o&&s.push({kind:"wait",from:o,to:i}),l>i&&s.push({kind:"drift",from:Math.max(i,o),to:l,ms:c.drift_ms}),o=c.finished_at?_(c.finished_at):Math.max(t,l),s.push({kind:"attempt",from:l,to:o,attempt:c})}let r=_(e.due_at);return["PENDING","ENQUEUED","RETRYING","WAITING"].includes(e.status)&&(r>o&&s.push({kind:"wait",from:o,to:r}),s.push({kind:"due",from:Math.max(r,o),to:Math.max(r,o)})),s}function Ye(e){let n=e.filter(({kind:i})=>i!=="wait").reduce((i,{from:$,to:d})=>i+Math.max(d-$,0),0),t=Math.max(n*Qe,1),s=e.map((i,$)=>{let d=Math.max(i.to-i.from,0);if(i.kind==="due")return{...i,ms:0,fixed:10};if($===0&&i.kind==="wait")return{...i,ms:d,fixed:He,cut:d>t};let p=i.kind==="wait"&&d>t;return{...i,ms:d,scaled:p?t:d,cut:p}}),o=s.reduce((i,$)=>i+($.fixed??($.kind==="attempt"?Se:0)),0),r=s.reduce((i,$)=>i+($.scaled??0),0)||1,c=Math.max(Ee-o-2,0)/r,l=1;return s.map(i=>{let $=i.fixed??i.scaled*c+(i.kind==="attempt"?Se:0),d={...i,x:l,width:$};return l+=$,d})}function Oe({task:e,attempts:n,now:t,chosen:s,onChoose:o}){let r=Ye(ze(e,n,t)),c=n.length?`${n.length} ${n.length===1?"attempt":"attempts"} of this task`:"No attempt yet";return a`
    <div class="timeline-box"><svg class="timeline" viewBox=${`0 0 ${Ee} ${Fe}`} role="img" aria-label=${c}>
      <title>${c}</title>
      <circle class="start" cx="5" cy=${x+E/2} r="4"><title>submitted ${ee(e.created_at)}</title></circle>
      ${r.map((l,i)=>a`<${Ve} key=${i} ...${{span:l,chosen:s,onChoose:o}} />`)}
    </svg></div>`}function Ve({span:e,chosen:n,onChoose:t}){let{kind:s,x:o,width:r,ms:c,cut:l}=e,i=x+E/2;return s==="attempt"?a`<${Xe} ...${{span:e,chosen:n,onChoose:t}} />`:s==="due"?a`<g class="due"><line x1=${o} x2=${o} y1=${x-8} y2=${x+E+8} /><text x=${o-6} y=${x-10} text-anchor="end">due ${ee(e.from)}</text></g>`:s==="drift"?a`<g class="drift"><title>drift ${b(c)}</title><line x1=${o} x2=${o} y1=${x-4} y2=${x+E+4} /><line x1=${o} x2=${o+r} y1=${i} y2=${i} /></g>`:a`
    <g class="wait"><title>${b(c)} until due</title><line x1=${o+(o<2?9:0)} x2=${o+r} y1=${i} y2=${i} />
      ${l&&a`<path d=${`M${o+r/2-5} ${i+6} l4 -12 m3 0 l-4 12`} />`}
      ${r>64&&a`<text x=${o+r/2} y=${i-10} text-anchor="middle">${b(c)}</text>`}</g>`}function Xe({span:e,chosen:n,onChoose:t}){let{attempt:s,x:o,width:r,ms:c}=e,{number:l,outcome:i}=s,$=`Attempt ${l}: ${(i??"running").replaceAll("_"," ")}, ${b(c)}`,d=()=>t(l);return a`
    <g class=${`attempt tone-${_e(i??"running")} ${n===l?"chosen":""}`} onClick=${d}>
      <title>${$}</title>
      <rect class="hit" x=${o-4} width=${r+8} y=${x-8} height=${E+16} />
      <rect class=${i?"bar":"bar open"} x=${o} width=${r} y=${x} height=${E} rx="3" />
      ${r>14&&a`<text class="in" x=${o+r/2} y=${x+E/2+4} text-anchor="middle">${l}</text>`}
      ${r>46&&a`<text x=${o+r/2} y=${x+E+15} text-anchor="middle">${b(c)}</text>`}
    </g>`}var Ze=16*1024,Ce=256*1024,H=["PENDING","ENQUEUED","RETRYING"],Ke=[...H,"RUNNING","WAITING"];async function et(e){let n=await O("GET",e,{text:!0});return{task:JSON.parse(n),source:k(n)}}function tt({id:e}){let n=I(`tasks/${encodeURIComponent(e)}`,{},{load:et}),t=I(`tasks/${encodeURIComponent(e)}/attempts`,{},{load:at}),s=()=>Promise.all([n.reload(),t.reload()]),[o,r]=g(null);return W({topic:"task",task_id:e},c=>c.type==="progress"?r(c.progress):s()),n.problem?.status===404?a`<${C} alone title="There is no such task"><p><code>${e}</code></p><p>It was never submitted, or has been removed since its end.</p><a class="button" href=${h("/tasks")}>Tasks</a></${C}>`:a`<${T} read=${n} rows=${8}>${({task:c,source:l})=>a`
    <${nt} task=${o&&c.status==="RUNNING"?{...c,progress:o}:c} source=${l} attempts=${t.data??[]} problem=${t.problem} reload=${s} />`}</${T}>`}async function at(e){let n=[],t=null;do{let s=await oe(e,{limit:100,cursor:t});n.push(...s.items),t=s.next_cursor}while(t&&n.length<1e3);return n}function nt({task:e,source:n,attempts:t,problem:s,reload:o}){let r=Number(S.value.get("attempt"))||t.at(-1)?.number,c=$=>ge({attempt:$},{replace:!0}),l=$=>{let d=t.findIndex(({number:p})=>p===r)+$;t[d]&&c(t[d].number)};z({"[":()=>l(-1),"]":()=>l(1)});let i=e.status==="RUNNING";return a`
    <div class="page-head">
      <h1 class="task-name">${w(e)}</h1><${K} status=${e.status} />
      ${e.cancel_requested&&i&&a`<${y} tone="amber">asked to stop</${y}>`}
      <${st} task=${e} />
      ${G("operate")&&a`<${dt} task=${e} reload=${o} />`}
    </div>
    <p class="quiet ids"><code>${e.id}</code><${Y} text=${e.id} name="id" /></p>
    <div class="stack">
      <section class="panel" aria-label="Timeline"><div class="body">
        <${rt} task=${e} attempts=${t} />
        <${Oe} task=${e} attempts=${t} now=${i?$e.value:de()} chosen=${r} onChoose=${c} />
        ${i&&e.progress&&a`<${ot} progress=${e.progress} />`}
      </div></section>
      <div class="split">
        <div class="stack">
          ${e.error&&a`<${it} task=${e} attempt=${t.find(({number:$})=>$===r)} />`}
          <${lt} attempts=${t} chosen=${r} choose=${c} problem=${s} />
          <${Ie} task=${e} source=${n} name="payload" />
          ${(e.status==="SUCCEEDED"||e.result!==null||e.not_shown?.result)&&a`<${Ie} task=${e} source=${n} name="result" />`}
        </div>
        <div class="stack"><${ct} task=${e} /><${$t} source=${n} /></div>
      </div>
    </div>`}function st({task:e}){let n=e.waiting_for;return n?n.limit?a`<${y} tone="amber">waits for the limit ${n.limit}${n.key&&` (${n.key})`}</${y}>`:n.ordering_key?a`<${y} tone="amber">waits behind ${n.ordering_key}</${y}>`:n.run?a`<a href=${h(`/runs/${n.run}`)}><${y} tone="violet">waits for a run</${y}></a>`:a`<${y} tone="violet">waits for a callback</${y}>`:null}function rt({task:e,attempts:n}){let t=`attempt ${e.attempt} of ${e.retry.max_attempts}`,s=n.at(-1),o=s?.finished_at?b(_(s.finished_at)-_(s.started_at)):null,r=a`<${f} at=${e.due_at} />`,c=a`<${f} at=${e.due_at} as="relative" />`,l=a`<${f} at=${e.finished_at} />`,i={PENDING:a`Starts ${c}, at ${r}.`,ENQUEUED:a`Due ${c}, at ${r}; it is in the ${e.lane} lane.`,RUNNING:a`Runs since <${f} at=${e.started_at} />, ${t}.`,RETRYING:a`${e.attempt===0?"Starts":`Attempt ${e.attempt} failed. The next one starts`} ${c}, at ${r}.`,WAITING:a`Waits since the end of ${t}.`,SUCCEEDED:a`Succeeded at ${l}, ${t}${o&&a` in ${o}`}${e.drift_ms!==null&&a`, ${b(e.drift_ms)} after it was due`}.`,DEAD:a`Out of attempts, or failed for good, at ${l}: ${t}.`,CANCELLED:a`Cancelled at ${l}${e.reason&&a`: ${ce[e.reason]??e.reason}`}.`,EXPIRED:a`Not started by <${f} at=${e.expires_at} />, so it expired.`};return a`<p class="sentence">${i[e.status]}</p>`}function ot({progress:{fraction:e,message:n}}){return a`<div class="progress"><${fe} share=${e??0} title="Progress" /><p class="quiet">${e!==null&&`${Math.round(e*100)} % `}${n}</p></div>`}function it({task:e,attempt:n}){let t=n?.error??e.error,s=[`${t.type}: ${t.message}`,t.traceback].filter(Boolean).join(`

`);return a`
    <section class="panel error" aria-label="Error">
      <div class="head"><h2>Error</h2><span class="quiet">attempt ${n?.error?n.number:e.error.attempt} of ${e.retry.max_attempts}</span><${Y} text=${s} name="error" /></div>
      <div class="body"><p><strong class="tone-red error-type">${t.type}</strong></p><pre class="message">${t.message}</pre>
        ${t.traceback&&a`<details open><summary>Traceback</summary><pre class="traceback" tabindex="0">${t.traceback}</pre></details>`}</div>
    </section>`}function lt({attempts:e,chosen:n,choose:t,problem:s}){let o=e.find(({number:r})=>r===n);return a`
    <section class="panel" aria-label="Attempts">
      <div class="head"><h2>Attempts</h2></div>
      ${s&&a`<div class="body"><${j} problem=${s} /></div>`}
      ${e.length?a`<div class="scroll"><table class="rows attempts"><thead><tr><th scope="col" class="narrow">No.</th><th scope="col">Outcome</th><th scope="col">Started</th><th scope="col" class="number">Drift</th><th scope="col" class="number">Took</th><th scope="col">Error</th></tr></thead>
        <tbody>${[...e].reverse().slice(0,100).map(r=>a`
          <tr key=${r.number} class=${`opens ${r.number===n?"selected":""}`} onClick=${()=>t(r.number)}>
            <td class="narrow bare"><button class="link" aria-pressed=${r.number===n} onClick=${()=>t(r.number)}>${r.number}</button></td>
            <td class="bare"><${K} status=${r.outcome??"running"} /></td>
            <td data-label="Started"><${f} at=${r.started_at} as="ms" /></td>
            <td class="number" data-label="Drift">${b(r.drift_ms)}</td>
            <td class="number" data-label="Took">${r.finished_at?b(_(r.finished_at)-_(r.started_at)):"–"}</td>
            <td class="quiet bare">${r.error?.type}</td>
          </tr>`)}</tbody></table></div>`:a`<${C} title="Not started yet" />`}
      ${o?.log&&a`<div class="body"><h3>Log of attempt ${o.number}</h3><pre class="log" tabindex="0">${o.log}</pre></div>`}
    </section>`}function Ie({task:e,source:n,name:t}){let[s,o]=g(null),r=q(n,t),c=e.not_shown?.[t],l=c||!r?null:U(r),i=t==="payload"?"Payload":"Result",$=s??l,d=$===null?null:new Blob([$]).size,p=async()=>{try{o(await O("GET",`tasks/${e.id}/${t}`,{text:!0}))}catch(De){R(De.message,"red")}},D=a`<a class="button small" href=${`/v1/tasks/${e.id}/${t}`} download=${`${e.id}-${t}.json`}><${L} name="download" />Download</a>`,[M,m]=g(!1),v=Number(/^([\d,]+) bytes/.exec(c??"")?.[1].replaceAll(",","")??0);return a`
    <section class="panel" aria-label=${i}>
      <div class="head"><h2>${i}</h2><span class="quiet">${c&&!s?v?P(v):c:d!==null&&$!=="null"?P(d):""}</span></div>
      <div class="body">${c&&!s?a`<p class="row">${v<=Ce&&a`<button class="small" onClick=${p}>Load ${P(v)}</button>`}${D}</p>`:$==="null"||$===null?a`<p class="quiet">None</p>`:d>Ce?a`<p class="row">${D}</p>`:$.length>Ze&&!M?a`<p class="row"><button class="small" onClick=${()=>m(!0)}>Show ${P(d)}</button>${D}</p>`:a`<${ae} text=${$} name=${t} />`}</div>
    </section>`}function ct({task:e}){let n=Object.entries(e.tags??{}),t=[["Namespace",a`<a href=${h("/tasks",{ns:e.namespace})}>${e.namespace}</a>`],["Lane",a`${e.lane}${e.promoted_at&&a` <span class="quiet">promoted <${f} at=${e.promoted_at} /></span>`}`],["Submitted",a`<${f} at=${e.created_at} as="stamp" />`],["Run at",a`<${f} at=${e.run_at} as="stamp" />`],H.includes(e.status)&&["Due",a`<${f} at=${e.due_at} as="stamp" />`],e.finished_at&&["Ended",a`<${f} at=${e.finished_at} as="stamp" />`],e.expires_at&&["Expires",a`<${f} at=${e.expires_at} as="stamp" />`],["Timeout",b(e.timeout*1e3)],["Retries",`${e.retry.max_attempts} attempts, ${e.retry.base_delay} s × ${e.retry.multiplier}ⁿ, at most ${b(e.retry.max_delay*1e3)}`],e.schedule_id&&["Schedule",a`<a href=${h(`/schedules/${e.schedule_id}`)}>${e.schedule_id}</a> <span class="quiet"><${f} at=${e.scheduled_for} /></span>`],e.run_id&&["Run",a`<a href=${h(`/runs/${e.run_id}`)}>${e.run_id}</a> <span class="quiet">step ${e.step}${e.index!==null&&` [${e.index}]`}</span>`],e.parent_id&&["Submitted by",a`<a href=${h(`/tasks/${e.parent_id}`)}>${e.parent_id}</a>`],e.unique&&["Unique",a`<code>${e.unique.key}</code> while ${e.unique.while}`],e.ordering_key&&["Ordering key",a`<code>${e.ordering_key}</code>`],e.fairness_key&&["Fairness key",a`<code>${e.fairness_key}</code>`],e.idempotency_key&&["Idempotency key",a`<code>${e.idempotency_key}</code>`],e.limits?.length&&["Limits",e.limits.map(s=>a`<${y} key=${s.name}>${s.name}${s.key&&`: ${s.key}`}</${y}> `)],n.length&&["Tags",n.map(([s,o])=>a`<a key=${s} href=${h("/tasks",{tag:`${s}:${o}`})}><${y}>${s}: ${o}</${y}></a> `)]].filter(Boolean);return a`<section class="panel" aria-label="Details"><div class="head"><h2>Details</h2></div>
    <dl class="body facts">${t.map(([s,o])=>a`<dt key=${s}>${s}</dt><dd>${o}</dd>`)}</dl></section>`}function $t({source:e}){let n=q(e,"target");return a`<section class="panel" aria-label="Target"><div class="head"><h2>Target</h2></div><div class="body">${n&&a`<${ae} text=${U(n)} name="target" />`}</div></section>`}function dt({task:e,reload:n}){let[t,s]=g(!1),{id:o,status:r}=e,c=async({title:i,text:$,action:d,danger:p,request:D,code:M,done:m})=>{await me({title:i,action:d,danger:p,run:async()=>await D()??!0,text:a`<p>${$}</p><${V} call=${M} />`})!==void 0&&(R(m),await n())},l={retry:r==="DEAD"&&(()=>c({title:`Retry ${w(e)}?`,text:`It gets ${e.retry.max_attempts} new attempts and starts now.`,action:"Retry",request:()=>Q(`tasks/${o}/retry`),done:"Retried",code:{method:"POST",path:`tasks/${o}/retry`,call:`client.retry("${o}")`}})),cancel:Ke.includes(r)&&!(r==="RUNNING"&&e.cancel_requested)&&(()=>c({title:`Cancel ${w(e)}?`,text:r==="RUNNING"?"It is running and is asked to stop.":"It will not start.",action:"Cancel the task",danger:!0,request:()=>le(`tasks/${o}`),done:r==="RUNNING"?"Asked to stop":"Cancelled",code:{method:"DELETE",path:`tasks/${o}`,call:`client.cancel("${o}")`}})),run:H.includes(r)&&(()=>c({title:`Run ${w(e)} now?`,text:"It becomes due now, without jitter.",action:"Run now",request:()=>Q(`tasks/${o}/run`),done:"Due now",code:{method:"POST",path:`tasks/${o}/run`,call:`client.run("${o}")`}})),change:H.includes(r)&&(()=>s(!0))};return z({...l.retry&&{r:l.retry},...l.cancel&&{c:l.cancel},...l.change&&{e:l.change}}),a`
    <div class="actions">
      ${l.retry&&a`<button class="primary" onClick=${l.retry}><${L} name="refresh" />Retry</button>`}
      ${l.run&&a`<button onClick=${l.run}><${L} name="play" />Run now</button>`}
      ${l.change&&a`<button onClick=${l.change}>Change</button>`}
      ${l.cancel&&a`<button onClick=${l.cancel}><${L} name="cross" />Cancel</button>`}
      <a class="button" href=${h("/new",{from:o,handler:""})}>Edit and submit again</a>
    </div>
    ${t&&a`<${ut} task=${e} onClose=${i=>{s(!1),i&&n()}} />`}`}function ut({task:e,onClose:n}){let[t,s]=g({run_at:te(e.due_at,"UTC"),priority:e.priority,timeout:String(e.timeout),max_attempts:String(e.retry.max_attempts)}),[o,r]=g({busy:!1,problem:null});ue(!0);let c=pt(e,t),l=$=>({currentTarget:d})=>s({...t,[$]:d.value}),i=async $=>{$.preventDefault(),r({busy:!0,problem:null});try{await ie(`tasks/${e.id}`,c),R("Changed"),n(!0)}catch(d){r({busy:!1,problem:d})}};return a`<${X} title=${`Change ${w(e)}`} onClose=${()=>n(!1)}>
    <form class="form" onSubmit=${i}>
      <div class="fields">
        <label class="field"><span>Due (UTC)</span><input type="datetime-local" value=${t.run_at} onInput=${l("run_at")} /></label>
        <label class="field"><span>Priority</span><select value=${t.priority} onChange=${l("priority")}>${["high","medium","low"].map($=>a`<option key=${$}>${$}</option>`)}</select></label>
        <label class="field"><span>Timeout, seconds</span><input inputmode="decimal" value=${t.timeout} onInput=${l("timeout")} /></label>
        <label class="field"><span>Attempts in all</span><input inputmode="numeric" value=${t.max_attempts} onInput=${l("max_attempts")} /></label>
      </div>
      <${j} problem=${o.problem} />
      <${V} call=${{method:"PATCH",path:`tasks/${e.id}`,body:c,call:`client.change("${e.id}", **${JSON.stringify(c)})`}} />
      <div class="dialog-actions"><button type="button" onClick=${()=>n(!1)}>Back</button><button class="primary" disabled=${o.busy||!Object.keys(c).length}>Change</button></div>
    </form></${X}>`}function pt(e,{run_at:n,priority:t,timeout:s,max_attempts:o}){let r={};return n&&n!==te(e.due_at,"UTC")&&(r.run_at=`${n}:00Z`),t!==e.priority&&(r.priority=t),s!==String(e.timeout)&&(r.timeout=Number(s)),o!==String(e.retry.max_attempts)&&(r.retry={max_attempts:Number(o)}),r}export{qe as Dead,Ge as New,tt as Task};
