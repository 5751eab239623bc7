import{$ as X,Aa as xe,Ba as _e,C as L,Ca as ee,Da as b,E as H,F as ue,H as F,I as Q,Ja as _,K as U,La as te,M as w,Ma as ae,N as pe,Na as g,Oa as f,R as N,S as R,T as k,U as A,V as j,W as P,Z as M,_ as me,aa as D,b as h,ba as B,c as oe,ca as T,e as W,ea as S,fa as Z,ga as fe,i as a,ka as he,l as ie,la as ye,m as V,n as le,na as E,o as ce,oa as y,p as I,pa as be,qa as ge,ra as ve,t as Y,ua as G,w as $e,x as de,xa as O,za as K}from"./chunk-IBXNJ2BW.js";var Ae=100;function Pe(){let e=G.value==="*"?void 0:G.value,n=O("dead-letters/groups",{namespace:e}),[t,s]=h(null);H({topic:"tasks",filter:{status:["DEAD"]}},()=>n.reload());let o=E.value.get("group"),r=i=>{s(null),i&&n.reload()};if(n.problem?.status===404)return a`<div class="page-head"><h1>Dead letters</h1></div><${T}>This server does not group dead letters. <a href=${y("/tasks",{status:"DEAD"})}>List the dead tasks</a>.</${T}>`;let c=n.data?.items.reduce((i,l)=>i+l.count,0);return a`
    <div class="page-head"><h1>Dead letters</h1>${c>0&&a`<span class="quiet">${Q(c,"task")}, ${Q(n.data.items.length,"cause")}</span>`}
      ${L("operate")&&c>0&&a`<div class="actions">
        <button onClick=${()=>s({action:"redrive",body:e?{namespace:e}:{all:!0},what:a`<p>Every dead task${e&&a` of the namespace ${e}`}. Is each cause fixed?</p>`})}>Redrive all …</button>
        <button onClick=${()=>s({action:"discard",body:e?{namespace:e}:{all:!0},what:a`<p>Gives up every dead task${e&&a` of the namespace ${e}`}. Each becomes cancelled and cannot be retried.</p>`})}>Discard all …</button></div>`}
    </div>
    <${S} read=${n} rows=${6}>${({items:i,complete:l,looked_at:$})=>i.length?a`
      ${l===!1&&a`<${T} tone="amber" icon="alert">Only the latest ${F($)} dead tasks were read.</${T}>`}
      <ul class="causes">${i.map(d=>a`<${Ge} key=${d.fingerprint} group=${d} open=${d.fingerprint===o} onAct=${s} />`)}</ul>`:a`<div class="panel"><${D} title="No dead tasks">A task that is out of attempts, or failed for good, is listed here.</${D}></div>`}</${S}>
    ${t&&a`<${ye} ...${t} onClose=${r} />`}`}function Ge({group:e,open:n,onAct:t}){return a`
    <li class="panel cause">
      <div class="cause-head">
        <a class="cause-count" href=${be({group:n?"":e.fingerprint})} aria-expanded=${n} aria-label=${`${Q(e.count,"task")} of ${e.error_type}`}>${F(e.count)}</a>
        <div class="cause-text"><p><strong>${e.error_type}</strong> <span class="target">${e.target}</span></p><p class="quiet message">${e.message}</p></div>
        <div class="cause-times quiet"><span>first <${f} at=${e.first} /></span><span>last <${f} at=${e.last} /></span></div>
        <div class="row">
          ${L("operate")&&a`<button class="small primary" onClick=${()=>t({action:"redrive",body:K(e),what:xe(e)})}>Redrive ${F(e.count)} …</button>`}
          <a class="button small" href=${y(`/tasks/${e.sample_id}`)}>Open one</a>
        </div>
      </div>
      ${n&&a`<${Le} group=${e} />`}
    </li>`}function Le({group:e}){let n=O("dead-letters",{fingerprint:e.fingerprint,namespace:K(e).namespace,limit:Ae});return a`<${S} read=${n}>${({items:t})=>a`<ul class="cause-tasks">${t.map(s=>a`
    <li key=${s.id}><a href=${y(`/tasks/${s.id}`)}>${w(s)}</a><span class="quiet"><${f} at=${s.finished_at} /></span><span class="quiet">${s.error?.message}</span></li>`)}</ul>`}</${S}>`}var Ue=["python","http","sqs","sns","eventbridge","lambda","stepfunctions","dynamodb","email","sql","workflow"],we={sqs:{type:"sqs",queue_url:""},sns:{type:"sns",topic_arn:""},eventbridge:{type:"eventbridge",source:"",detail_type:""},lambda:{type:"lambda",function:""},stepfunctions:{type:"stepfunctions",state_machine_arn:""},dynamodb:{type:"dynamodb",table:""},email:{type:"email",to:""},sql:{type:"sql",database:"",statement:""},workflow:{type:"workflow",workflow:""}},Ne={type:"python",handler:"",method:"POST",url:"",target:"",payload:"",when:"now",delay:"60",run_at:"",priority:"",name:"",namespace:"",tags:"",max_attempts:"",timeout:""};function je(){let e=E.value.get("from"),n=O("handlers",{},{again:!1}),[t,s]=h(()=>({...Ne,handler:E.value.get("handler")??"",namespace:G.value==="*"?"":G.value})),[o,r]=h({busy:!1,problem:null});oe(()=>{e&&Qe(e).then(m=>s({...Ne,...m}),m=>r({busy:!1,problem:m}))},[e]);let c=n.data?.items??[],i=c.find(({name:m})=>m===t.handler),{body:l,errors:$}=W(()=>We(t),[t]),d={...$,...Fe(o.problem)},p=m=>({currentTarget:v})=>s({...t,[m]:v.value});return a`
    <div class="page-head"><h1>${e?"Submit again":"New task"}</h1></div>
    <div class="split even">
      <form class="panel form" onSubmit=${async m=>{if(m?.preventDefault(),!Object.keys($).length){r({busy:!0,problem:null});try{let v=await I("POST","tasks",{body:l});P("Submitted"),ge(y(`/tasks/${v.id}`,{from:"",ns:E.value.get("ns")}))}catch(v){r({busy:!1,problem:v})}}}}>
        <div class="body form">
          <${Me} ...${{fields:t,set:p,wrong:d}} known=${c} handler=${i} missing=${n.problem} setFields=${s} />
          <${u} label="Payload, JSON" error=${d.payload} hint=${i?.doc}>
            <textarea rows="7" spellcheck=${!1} value=${t.payload} aria-invalid=${!!d.payload} placeholder='{"name": "Ada"}' onInput=${p("payload")}></textarea></${u}>
          ${i?.payload_schema&&a`<${Be} schema=${i.payload_schema} fill=${m=>s({...t,payload:m})} />`}
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
          <${B} problem=${o.problem} />
          <div class="row"><button class="primary" disabled=${o.busy||Object.keys($).length>0}>Submit</button></div>
        </div>
      </form>
      <section class="panel" aria-label="The same call"><div class="head"><h2>The same call</h2></div><div class="body">
        <${me} call=${{method:"POST",path:"tasks",body:l,call:"client.submit(**)"}} /></div></section>
    </div>`}function u({label:e,hint:n,error:t,children:s}){return a`<label class="field"><span>${e}</span>${s}${n&&a`<span class="hint">${n}</span>`}${t&&a`<span class="error">${t}</span>`}</label>`}function Me({fields:e,set:n,wrong:t,known:s,handler:o,missing:r,setFields:c}){let i=({currentTarget:{value:l}})=>c({...e,type:l,target:we[l]?JSON.stringify(we[l],null,2):""});return a`
    <div class="fields">
      <${u} label="Target"><select value=${e.type} onChange=${i}>${Ue.map(l=>a`<option key=${l}>${l}</option>`)}</select></${u}>
      ${e.type==="python"&&a`
        <${u} label="Handler" error=${t["target.handler"]} hint=${o?.module&&`${o.module}${o.line?`:${o.line}`:""}`}>
          <input list="handlers" value=${e.handler} required aria-invalid=${!!t["target.handler"]} placeholder="shop.restock" spellcheck=${!1} autocomplete="off" onInput=${n("handler")} /></${u}>
        <datalist id="handlers">${s.map(({name:l,doc:$})=>a`<option key=${l} value=${l}>${$}</option>`)}</datalist>`}
      ${e.type==="http"&&a`
        <${u} label="Method"><select value=${e.method} onChange=${n("method")}>${["POST","GET","PUT","PATCH","DELETE"].map(l=>a`<option key=${l}>${l}</option>`)}</select></${u}>`}
    </div>
    ${e.type==="http"&&a`<${u} label="URL" error=${t["target.url"]}><input type="url" value=${e.url} required placeholder="https://example.com/hook" aria-invalid=${!!t["target.url"]} onInput=${n("url")} /></${u}>`}
    ${e.target!==""&&a`<${u} label=${"Target, JSON"} error=${t.target}><textarea rows="6" spellcheck=${!1} value=${e.target} aria-invalid=${!!t.target} onInput=${n("target")}></textarea></${u}>`}
    ${!r&&e.type==="python"&&s.length===0&&a`<${T}>No handlers are registered. Start the runner with <code>duetime local --handlers handlers</code>.</${T}>`}`}function Be({schema:e,fill:n}){let t=new Set(e.required??[]),s=Object.entries(e.properties??{});if(!s.length)return null;let o=Object.fromEntries(s.filter(([r])=>t.has(r)).map(([r,c])=>[r,Te(c,e)]));return a`<div class="schema"><dl class="facts">${s.map(([r,c])=>a`<dt key=${r}><code>${r}</code></dt>
    <dd class="quiet">${ne(c)}${t.has(r)?", required":c.default!==void 0?`, default ${JSON.stringify(c.default)}`:""}${c.description&&` · ${c.description}`}</dd>`)}</dl>
    <button type="button" class="small" onClick=${()=>n(JSON.stringify(o,null,2))}>Fill in</button></div>`}function ne(e){return e.enum?e.enum.map(n=>JSON.stringify(n)).join(" | "):e.anyOf?e.anyOf.map(ne).join(" | "):e.type==="array"?`list of ${ne(e.items??{})}`:e.$ref?.split("/").pop()??e.format??e.type??"any"}var Je={string:"",integer:0,number:0,boolean:!1,array:[],object:{}};function Te(e,n){let t=e.$ref&&n.$defs?.[e.$ref.split("/").pop()];return t?Te(t,n):e.default!==void 0?e.default:e.enum?e.enum[0]:Je[e.type]??null}function We(e){let n={},t=[],s=(i,l)=>t.push(`${JSON.stringify(i)}: ${l}`),o=(i,l)=>{try{s(i,A(N(l),"  "))}catch($){n[i]=`Not JSON: ${$.message}`}},r=(i,l,$=i)=>{l===""||Number.isNaN(Number(l))?n[$]="Not a number":s(i,String(Number(l)))};e.target?o("target",e.target):e.type==="http"?s("target",JSON.stringify({type:"http",url:e.url,...e.method!=="POST"&&{method:e.method}})):s("target",JSON.stringify({type:e.type,handler:e.handler})),e.payload.trim()&&o("payload",e.payload),e.when==="delay"&&r("delay",e.delay),e.when==="run_at"&&e.run_at&&s("run_at",JSON.stringify(`${e.run_at}:00Z`));for(let i of["priority","name","namespace"])e[i]&&s(i,JSON.stringify(e[i]));e.timeout&&r("timeout",e.timeout),e.max_attempts&&s("retry",JSON.stringify({max_attempts:Number(e.max_attempts)||0}));let c=He(e.tags);return Object.keys(c).length&&s("tags",JSON.stringify(c)),{body:`{
  ${t.join(`,
  `)}
}`,errors:n}}function He(e){let n=e.split(",").map(t=>t.trim()).filter(Boolean);return Object.fromEntries(n.map(t=>[t.split(":")[0].trim(),t.split(":").slice(1).join(":").trim()]))}var Fe=e=>Object.fromEntries((e?.errors??[]).map(({field:n,message:t})=>[n,t]));async function Qe(e){let n=await I("GET",`tasks/${e}`,{text:!0}),t=JSON.parse(n),s=N(n),o=t.target?.type==="python"&&Object.keys(t.target).length===2,r=k(R(s,"payload"));return t.not_shown?.payload&&(r=await I("GET",`tasks/${e}/payload`,{text:!0})),{type:t.target?.type??"python",handler:o?t.target.handler:"",target:o?"":A(R(s,"target")),payload:r==="null"?"":A(N(r)),priority:t.priority==="medium"?"":t.priority,name:t.name??"",namespace:t.namespace==="default"?"":t.namespace,tags:Object.entries(t.tags??{}).map(([c,i])=>`${c}:${i}`).join(", "),max_attempts:t.retry.max_attempts===5?"":String(t.retry.max_attempts),timeout:t.timeout===60?"":String(t.timeout)}}var Ee=1e3,ze=64,x=26,C=16,Ve=110,Se=4,Ye=.35;function Xe(e,n,t){let s=[],o=_(e.created_at);for(let c of n){let i=_(c.started_at),l=i-Math.max(c.drift_ms??0,0);l>o&&s.push({kind:"wait",from:o,to:l}),i>l&&s.push({kind:"drift",from:Math.max(l,o),to:i,ms:c.drift_ms}),o=c.finished_at?_(c.finished_at):Math.max(t,i),s.push({kind:"attempt",from:i,to:o,attempt:c})}let r=_(e.due_at);return["PENDING","ENQUEUED","RETRYING","WAITING"].includes(e.status)&&(r>o&&s.push({kind:"wait",from:o,to:r}),s.push({kind:"due",from:Math.max(r,o),to:Math.max(r,o)})),s}function Ze(e){let n=e.filter(({kind:l})=>l!=="wait").reduce((l,{from:$,to:d})=>l+Math.max(d-$,0),0),t=Math.max(n*Ye,1),s=e.map((l,$)=>{let d=Math.max(l.to-l.from,0);if(l.kind==="due")return{...l,ms:0,fixed:10};if($===0&&l.kind==="wait")return{...l,ms:d,fixed:Ve,cut:d>t};let p=l.kind==="wait"&&d>t;return{...l,ms:d,scaled:p?t:d,cut:p}}),o=s.reduce((l,$)=>l+($.fixed??($.kind==="attempt"?Se:0)),0),r=s.reduce((l,$)=>l+($.scaled??0),0)||1,c=Math.max(Ee-o-2,0)/r,i=1;return s.map(l=>{let $=l.fixed??l.scaled*c+(l.kind==="attempt"?Se:0),d={...l,x:i,width:$};return i+=$,d})}function Oe({task:e,attempts:n,now:t,chosen:s,onChoose:o}){let r=Ze(Xe(e,n,t)),c=n.length?`${n.length} ${n.length===1?"attempt":"attempts"} of this task`:"No attempt yet";return a`
    <div class="timeline-box"><svg class="timeline" viewBox=${`0 0 ${Ee} ${ze}`} role="img" aria-label=${c}>
      <title>${c}</title>
      <circle class="start" cx="5" cy=${x+C/2} r="4"><title>submitted ${te(e.created_at)}</title></circle>
      ${r.map((i,l)=>a`<${Ke} key=${l} ...${{span:i,chosen:s,onChoose:o}} />`)}
    </svg></div>`}function Ke({span:e,chosen:n,onChoose:t}){let{kind:s,x:o,width:r,ms:c,cut:i}=e,l=x+C/2;return s==="attempt"?a`<${et} ...${{span:e,chosen:n,onChoose:t}} />`:s==="due"?a`<g class="due"><line x1=${o} x2=${o} y1=${x-8} y2=${x+C+8} /><text x=${o-6} y=${x-10} text-anchor="end">due ${te(e.from)}</text></g>`:s==="drift"?a`<g class="drift"><title>drift ${g(c)}</title><line x1=${o} x2=${o} y1=${x-4} y2=${x+C+4} /><line x1=${o} x2=${o+r} y1=${l} y2=${l} /></g>`:a`
    <g class="wait"><title>${g(c)} until due</title><line x1=${o+(o<2?9:0)} x2=${o+r} y1=${l} y2=${l} />
      ${i&&a`<path d=${`M${o+r/2-5} ${l+6} l4 -12 m3 0 l-4 12`} />`}
      ${r>64&&a`<text x=${o+r/2} y=${l-10} text-anchor="middle">${g(c)}</text>`}</g>`}function et({span:e,chosen:n,onChoose:t}){let{attempt:s,x:o,width:r,ms:c}=e,{number:i,outcome:l}=s,$=`Attempt ${i}: ${(l??"running").replaceAll("_"," ")}, ${g(c)}`,d=()=>t(i);return a`
    <g class=${`attempt tone-${_e(l??"running")} ${n===i?"chosen":""}`} onClick=${d}>
      <title>${$}</title>
      <rect class="hit" x=${o-4} width=${r+8} y=${x-8} height=${C+16} />
      <rect class=${l?"bar":"bar open"} x=${o} width=${r} y=${x} height=${C} rx="3" />
      ${r>14&&a`<text class="in" x=${o+r/2} y=${x+C/2+4} text-anchor="middle">${i}</text>`}
      ${r>46&&a`<text x=${o+r/2} y=${x+C+15} text-anchor="middle">${g(c)}</text>`}
    </g>`}var se=100,tt=2,Ce=400;function re({text:e,name:n}){let[t,s]=h(!1),o=W(()=>at(e),[e]),r=o&&(o.entries?.length||o.items?.length);return a`
    <div class="json" role="group" aria-label=${n}>
      <div class="json-actions">
        ${r?a`<button class="plain" onClick=${()=>s(!t)}>${t?"Tree":"Text"}</button>`:null}
        <${M} text=${e} name=${n} />
      </div>
      ${t||!o?a`<pre tabindex="0">${o?A(o):e}</pre>`:a`<div class="tree"><${ke} node=${o} depth=${0} /></div>`}
    </div>`}function at(e){try{return N(e)}catch{return null}}function ke({node:e,name:n,depth:t}){let[s,o]=h(t<tt),[r,c]=h(se),i=e.entries??e.items?.map(($,d)=>[d,$]);if(!i?.length)return a`<div class="leaf"><${Ie} name=${n} /><${nt} node=${e} /></div>`;let l=e.entries?`{ ${i.length} }`:`[ ${i.length} ]`;return a`
    <details open=${s} onToggle=${$=>o($.currentTarget.open)}>
      <summary><${Ie} name=${n} /><span class="quiet">${l}</span></summary>
      ${s&&a`<div class="branch">
        ${i.slice(0,r).map(([$,d],p)=>a`<${ke} key=${p} node=${d} name=${$} depth=${t+1} />`)}
        ${i.length>r&&a`<button class="small" onClick=${()=>c(r+se)}>
          ${Math.min(se,i.length-r)} more of ${i.length-r}</button>`}
      </div>`}
    </details>`}var Ie=({name:e})=>e===void 0?null:a`<span class=${typeof e=="number"?"index":"key"}>${e}</span>`;function nt({node:e}){let[n,t]=h(!1);if(e.type!=="string")return a`<span class=${`value ${e.type}`}>${k(e)}</span>`;let s=e.text.length>Ce&&!n;return a`<span class="value string">"${s?e.text.slice(0,Ce):e.text}"</span>
    ${s&&a`<button class="small" onClick=${()=>t(!0)}>all ${e.text.length} characters</button>`}`}var st=16*1024,De=256*1024,z=["PENDING","ENQUEUED","RETRYING"],rt=[...z,"RUNNING","WAITING"];async function ot(e){let n=await I("GET",e,{text:!0});return{task:JSON.parse(n),source:N(n)}}function it({id:e}){let n=O(`tasks/${encodeURIComponent(e)}`,{},{load:ot}),t=O(`tasks/${encodeURIComponent(e)}/attempts`,{},{load:lt}),s=()=>Promise.all([n.reload(),t.reload()]),[o,r]=h(null);return H({topic:"task",task_id:e},c=>c.type==="progress"?r(c.progress):s()),n.problem?.status===404?a`<${D} alone title="There is no such task"><p><code>${e}</code></p><p>It was never submitted, or has been removed since its end.</p><a class="button" href=${y("/tasks")}>Tasks</a></${D}>`:a`<${S} read=${n} rows=${8}>${({task:c,source:i})=>a`
    <${ct} task=${o&&c.status==="RUNNING"?{...c,progress:o}:c} source=${i} attempts=${t.data??[]} problem=${t.problem} reload=${s} />`}</${S}>`}async function lt(e){let n=[],t=null;do{let s=await ie(e,{limit:100,cursor:t});n.push(...s.items),t=s.next_cursor}while(t&&n.length<1e3);return n}function ct({task:e,source:n,attempts:t,problem:s,reload:o}){let r=Number(E.value.get("attempt"))||t.at(-1)?.number,c=$=>ve({attempt:$},{replace:!0}),i=$=>{let d=t.findIndex(({number:p})=>p===r)+$;t[d]&&c(t[d].number)};Y({"[":()=>i(-1),"]":()=>i(1)});let l=e.status==="RUNNING";return a`
    <div class="page-head">
      <h1 class="task-name">${w(e)}</h1><${ee} status=${e.status} />
      ${e.cancel_requested&&l&&a`<${b} tone="amber">asked to stop</${b}>`}
      <${$t} task=${e} />
      ${L("operate")&&a`<${yt} task=${e} reload=${o} />`}
    </div>
    <p class="quiet ids"><code>${e.id}</code><${M} text=${e.id} name="id" /></p>
    <div class="stack">
      <section class="panel" aria-label="Timeline"><div class="body">
        <${dt} task=${e} attempts=${t} />
        <${Oe} task=${e} attempts=${t} now=${l?$e.value:de()} chosen=${r} onChoose=${c} />
        ${l&&e.progress&&a`<${ut} progress=${e.progress} />`}
      </div></section>
      <div class="split">
        <div class="stack">
          ${e.error&&a`<${pt} task=${e} attempt=${t.find(({number:$})=>$===r)} />`}
          <${mt} attempts=${t} chosen=${r} choose=${c} problem=${s} />
          <${qe} task=${e} source=${n} name="payload" />
          ${(e.status==="SUCCEEDED"||e.result!==null||e.not_shown?.result)&&a`<${qe} task=${e} source=${n} name="result" />`}
        </div>
        <div class="stack"><${ft} task=${e} /><${ht} source=${n} /></div>
      </div>
    </div>`}function $t({task:e}){let n=e.waiting_for;return n?n.limit?a`<${b} tone="amber">waits for the limit ${n.limit}${n.key&&` (${n.key})`}</${b}>`:n.ordering_key?a`<${b} tone="amber">waits behind ${n.ordering_key}</${b}>`:n.run?a`<a href=${y(`/runs/${n.run}`)}><${b} tone="violet">waits for a run</${b}></a>`:a`<${b} tone="violet">waits for a callback</${b}>`:null}function dt({task:e,attempts:n}){let t=`attempt ${e.attempt} of ${e.retry.max_attempts}`,s=n.at(-1),o=s?.finished_at?g(_(s.finished_at)-_(s.started_at)):null,r=a`<${f} at=${e.due_at} />`,c=a`<${f} at=${e.due_at} as="relative" />`,i=a`<${f} at=${e.finished_at} />`,l={PENDING:a`Starts ${c}, at ${r}.`,ENQUEUED:a`Due ${c}, at ${r}; it is in the ${e.lane} lane.`,RUNNING:a`Runs since <${f} at=${e.started_at} />, ${t}.`,RETRYING:a`${e.attempt===0?"Starts":`Attempt ${e.attempt} failed. The next one starts`} ${c}, at ${r}.`,WAITING:a`Waits since the end of ${t}.`,SUCCEEDED:a`Succeeded at ${i}, ${t}${o&&a` in ${o}`}${e.drift_ms!==null&&a`, ${g(e.drift_ms)} after it was due`}.`,DEAD:a`Out of attempts, or failed for good, at ${i}: ${t}.`,CANCELLED:a`Cancelled at ${i}${e.reason&&a`: ${pe[e.reason]??e.reason}`}.`,EXPIRED:a`Not started by <${f} at=${e.expires_at} />, so it expired.`};return a`<p class="sentence">${l[e.status]}</p>`}function ut({progress:{fraction:e,message:n}}){return a`<div class="progress"><${he} share=${e??0} title="Progress" /><p class="quiet">${e!==null&&`${Math.round(e*100)} % `}${n}</p></div>`}function pt({task:e,attempt:n}){let t=n?.error??e.error,s=[`${t.type}: ${t.message}`,t.traceback].filter(Boolean).join(`

`);return a`
    <section class="panel error" aria-label="Error">
      <div class="head"><h2>Error</h2><span class="quiet">attempt ${n?.error?n.number:e.error.attempt} of ${e.retry.max_attempts}</span><${M} text=${s} name="error" /></div>
      <div class="body"><p><strong class="tone-red error-type">${t.type}</strong></p><pre class="message">${t.message}</pre>
        ${t.traceback&&a`<details open><summary>Traceback</summary><pre class="traceback" tabindex="0">${t.traceback}</pre></details>`}</div>
    </section>`}function mt({attempts:e,chosen:n,choose:t,problem:s}){let o=e.find(({number:r})=>r===n);return a`
    <section class="panel" aria-label="Attempts">
      <div class="head"><h2>Attempts</h2></div>
      ${s&&a`<div class="body"><${B} problem=${s} /></div>`}
      ${e.length?a`<div class="scroll"><table class="rows attempts"><thead><tr><th scope="col" class="narrow">No.</th><th scope="col">Outcome</th><th scope="col">Started</th><th scope="col" class="number">Drift</th><th scope="col" class="number">Took</th><th scope="col">Error</th></tr></thead>
        <tbody>${[...e].reverse().slice(0,100).map(r=>a`
          <tr key=${r.number} class=${`opens ${r.number===n?"selected":""}`} onClick=${()=>t(r.number)}>
            <td class="narrow bare"><button class="link" aria-pressed=${r.number===n} onClick=${()=>t(r.number)}>${r.number}</button></td>
            <td class="bare"><${ee} status=${r.outcome??"running"} /></td>
            <td data-label="Started"><${f} at=${r.started_at} as="ms" /></td>
            <td class="number" data-label="Drift">${g(r.drift_ms)}</td>
            <td class="number" data-label="Took">${r.finished_at?g(_(r.finished_at)-_(r.started_at)):"–"}</td>
            <td class="quiet bare">${r.error?.type}</td>
          </tr>`)}</tbody></table></div>`:a`<${D} title="Not started yet" />`}
      ${o?.log&&a`<div class="body"><h3>Log of attempt ${o.number}</h3><pre class="log" tabindex="0">${o.log}</pre></div>`}
    </section>`}function qe({task:e,source:n,name:t}){let[s,o]=h(null),r=R(n,t),c=e.not_shown?.[t],i=c||!r?null:k(r),l=t==="payload"?"Payload":"Result",$=s??i,d=$===null?null:new Blob([$]).size,p=async()=>{try{o(await I("GET",`tasks/${e.id}/${t}`,{text:!0}))}catch(Re){P(Re.message,"red")}},q=a`<a class="button small" href=${`/v1/tasks/${e.id}/${t}`} download=${`${e.id}-${t}.json`}><${j} name="download" />Download</a>`,[J,m]=h(!1),v=Number(/^([\d,]+) bytes/.exec(c??"")?.[1].replaceAll(",","")??0);return a`
    <section class="panel" aria-label=${l}>
      <div class="head"><h2>${l}</h2><span class="quiet">${c&&!s?v?U(v):c:d!==null&&$!=="null"?U(d):""}</span></div>
      <div class="body">${c&&!s?a`<p class="row">${v<=De&&a`<button class="small" onClick=${p}>Load ${U(v)}</button>`}${q}</p>`:$==="null"||$===null?a`<p class="quiet">None</p>`:d>De?a`<p class="row">${q}</p>`:$.length>st&&!J?a`<p class="row"><button class="small" onClick=${()=>m(!0)}>Show ${U(d)}</button>${q}</p>`:a`<${re} text=${$} name=${t} />`}</div>
    </section>`}function ft({task:e}){let n=Object.entries(e.tags??{}),t=[["Namespace",a`<a href=${y("/tasks",{ns:e.namespace})}>${e.namespace}</a>`],["Lane",a`${e.lane}${e.promoted_at&&a` <span class="quiet">promoted <${f} at=${e.promoted_at} /></span>`}`],["Submitted",a`<${f} at=${e.created_at} as="stamp" />`],["Run at",a`<${f} at=${e.run_at} as="stamp" />`],z.includes(e.status)&&["Due",a`<${f} at=${e.due_at} as="stamp" />`],e.finished_at&&["Ended",a`<${f} at=${e.finished_at} as="stamp" />`],e.expires_at&&["Expires",a`<${f} at=${e.expires_at} as="stamp" />`],["Timeout",g(e.timeout*1e3)],["Retries",`${e.retry.max_attempts} attempts, ${e.retry.base_delay} s × ${e.retry.multiplier}ⁿ, at most ${g(e.retry.max_delay*1e3)}`],e.schedule_id&&["Schedule",a`<a href=${y(`/schedules/${e.schedule_id}`)}>${e.schedule_id}</a> <span class="quiet"><${f} at=${e.scheduled_for} /></span>`],e.run_id&&["Run",a`<a href=${y(`/runs/${e.run_id}`)}>${e.run_id}</a> <span class="quiet">step ${e.step}${e.index!==null&&` [${e.index}]`}</span>`],e.parent_id&&["Submitted by",a`<a href=${y(`/tasks/${e.parent_id}`)}>${e.parent_id}</a>`],e.unique&&["Unique",a`<code>${e.unique.key}</code> while ${e.unique.while}`],e.ordering_key&&["Ordering key",a`<code>${e.ordering_key}</code>`],e.fairness_key&&["Fairness key",a`<code>${e.fairness_key}</code>`],e.idempotency_key&&["Idempotency key",a`<code>${e.idempotency_key}</code>`],e.limits?.length&&["Limits",e.limits.map(s=>a`<${b} key=${s.name}>${s.name}${s.key&&`: ${s.key}`}</${b}> `)],n.length&&["Tags",n.map(([s,o])=>a`<a key=${s} href=${y("/tasks",{tag:`${s}:${o}`})}><${b}>${s}: ${o}</${b}></a> `)]].filter(Boolean);return a`<section class="panel" aria-label="Details"><div class="head"><h2>Details</h2></div>
    <dl class="body facts">${t.map(([s,o])=>a`<dt key=${s}>${s}</dt><dd>${o}</dd>`)}</dl></section>`}function ht({source:e}){let n=R(e,"target");return a`<section class="panel" aria-label="Target"><div class="head"><h2>Target</h2></div><div class="body">${n&&a`<${re} text=${k(n)} name="target" />`}</div></section>`}function yt({task:e,reload:n}){let[t,s]=h(!1),{id:o,status:r}=e,c=async({title:l,text:$,action:d,danger:p,request:q,code:J,done:m})=>{await fe({title:l,action:d,danger:p,run:async()=>await q()??!0,text:a`<p>${$}</p><${X} call=${J} />`})!==void 0&&(P(m),await n())},i={retry:r==="DEAD"&&(()=>c({title:`Retry ${w(e)}?`,text:`It gets ${e.retry.max_attempts} new attempts and starts now.`,action:"Retry",request:()=>V(`tasks/${o}/retry`),done:"Retried",code:{method:"POST",path:`tasks/${o}/retry`,call:`client.retry("${o}")`}})),cancel:rt.includes(r)&&!(r==="RUNNING"&&e.cancel_requested)&&(()=>c({title:`Cancel ${w(e)}?`,text:r==="RUNNING"?"It is running and is asked to stop.":"It will not start.",action:"Cancel the task",danger:!0,request:()=>ce(`tasks/${o}`),done:r==="RUNNING"?"Asked to stop":"Cancelled",code:{method:"DELETE",path:`tasks/${o}`,call:`client.cancel("${o}")`}})),run:z.includes(r)&&(()=>c({title:`Run ${w(e)} now?`,text:"It becomes due now, without jitter.",action:"Run now",request:()=>V(`tasks/${o}/run`),done:"Due now",code:{method:"POST",path:`tasks/${o}/run`,call:`client.run("${o}")`}})),change:z.includes(r)&&(()=>s(!0))};return Y({...i.retry&&{r:i.retry},...i.cancel&&{c:i.cancel},...i.change&&{e:i.change}}),a`
    <div class="actions">
      ${i.retry&&a`<button class="primary" onClick=${i.retry}><${j} name="refresh" />Retry</button>`}
      ${i.run&&a`<button onClick=${i.run}><${j} name="play" />Run now</button>`}
      ${i.change&&a`<button onClick=${i.change}>Change</button>`}
      ${i.cancel&&a`<button onClick=${i.cancel}><${j} name="cross" />Cancel</button>`}
      <a class="button" href=${y("/new",{from:o,handler:""})}>Edit and submit again</a>
    </div>
    ${t&&a`<${bt} task=${e} onClose=${l=>{s(!1),l&&n()}} />`}`}function bt({task:e,onClose:n}){let[t,s]=h({run_at:ae(e.due_at,"UTC"),priority:e.priority,timeout:String(e.timeout),max_attempts:String(e.retry.max_attempts)}),[o,r]=h({busy:!1,problem:null});ue(!0);let c=gt(e,t),i=$=>({currentTarget:d})=>s({...t,[$]:d.value}),l=async $=>{$.preventDefault(),r({busy:!0,problem:null});try{await le(`tasks/${e.id}`,c),P("Changed"),n(!0)}catch(d){r({busy:!1,problem:d})}};return a`<${Z} title=${`Change ${w(e)}`} onClose=${()=>n(!1)}>
    <form class="form" onSubmit=${l}>
      <div class="fields">
        <label class="field"><span>Due (UTC)</span><input type="datetime-local" value=${t.run_at} onInput=${i("run_at")} /></label>
        <label class="field"><span>Priority</span><select value=${t.priority} onChange=${i("priority")}>${["high","medium","low"].map($=>a`<option key=${$}>${$}</option>`)}</select></label>
        <label class="field"><span>Timeout, seconds</span><input inputmode="decimal" value=${t.timeout} onInput=${i("timeout")} /></label>
        <label class="field"><span>Attempts in all</span><input inputmode="numeric" value=${t.max_attempts} onInput=${i("max_attempts")} /></label>
      </div>
      <${B} problem=${o.problem} />
      <${X} call=${{method:"PATCH",path:`tasks/${e.id}`,body:c,call:`client.change("${e.id}", **${JSON.stringify(c)})`}} />
      <div class="dialog-actions"><button type="button" onClick=${()=>n(!1)}>Back</button><button class="primary" disabled=${o.busy||!Object.keys(c).length}>Change</button></div>
    </form></${Z}>`}function gt(e,{run_at:n,priority:t,timeout:s,max_attempts:o}){let r={};return n&&n!==ae(e.due_at,"UTC")&&(r.run_at=`${n}:00Z`),t!==e.priority&&(r.priority=t),s!==String(e.timeout)&&(r.timeout=Number(s)),o!==String(e.retry.max_attempts)&&(r.retry={max_attempts:Number(o)}),r}export{Pe as Dead,je as New,it as Task};
