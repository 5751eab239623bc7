import{d as ge,e as ee,f as xe,h as ae,i as Oe,j as Ee}from"./chunk-IFTZACIC.js";import{a as ie}from"./chunk-TCHQY66F.js";import{a as q,b as A,c as U,d as z}from"./chunk-IFEHUN2Y.js";import{d as Q,e as re}from"./chunk-Z7A76I6Z.js";import{c as _e}from"./chunk-2X5E3BTX.js";import{F as X,Ha as x,Ja as se,K as he,L as ye,La as oe,Ma as g,Oa as f,Q as D,S as F,U as be,W as M,X as P,_ as Z,aa as I,b as y,ba as j,c as de,ca as N,e as $e,ea as T,fa as te,ga as ve,i as a,ja as S,ka as b,l as ue,la as we,m as K,ma as Ne,na as Te,o as me,p as pe,q as E,qa as G,r as H,s as C,u as L,va as Se,w as V,wa as _,x as w,xa as ke,y as fe,ya as ne,za as R}from"./chunk-MIWIARFA.js";var Me=100;function je(){let e=G.value==="*"?void 0:G.value,n=Se({namespace:e}),[t,s]=y(null);F({topic:"tasks",filter:{status:["DEAD"]}},()=>n.reload());let r=S.value.get("group"),o=c=>{s(null),c&&n.reload()};if(n.problem?.status===404)return a`<div class="page-head"><h1>Dead letters</h1></div><${N}>This server does not group dead letters. <a href=${b("/tasks",{status:"DEAD"})}>List the dead tasks</a>.</${N}>`;let l=n.data?.items.reduce((c,i)=>c+i.count,0);return a`
    <div class="page-head"><h1>Dead letters</h1>${l>0&&a`<span class="quiet">${C(l,"task")}, ${C(n.data.items.length,"cause")}</span>`}
      ${D("operate")&&l>0&&a`<div class="actions">
        <button onClick=${()=>s({action:"redrive",body:e?{namespace:e}:{all:!0},what:a`<p>Every dead task${e&&a` of the namespace ${e}`}. Is each cause fixed?</p>`})}>Retry all …</button>
        <button onClick=${()=>s({action:"discard",body:e?{namespace:e}:{all:!0},what:a`<p>Gives up every dead task${e&&a` of the namespace ${e}`}. Each becomes cancelled and cannot be retried.</p>`})}>Discard all …</button></div>`}
    </div>
    <${T} read=${n} rows=${6}>${({items:c,complete:i,looked_at:d})=>c.length?a`
      ${i===!1&&a`<${N} tone="amber" icon="alert">Only the latest ${H(d)} dead tasks were read.</${N}>`}
      <ul class="causes">${c.map($=>a`<${Je} key=${$.fingerprint} group=${$} open=${$.fingerprint===r} onAct=${s} />`)}</ul>`:a`<div class="panel"><${I} title="No dead tasks">A task that is out of attempts, or failed for good, is listed here.</${I}></div>`}</${T}>
    ${t&&a`<${xe} ...${t} onClose=${o} />`}`}function Je({group:e,open:n,onAct:t}){return a`
    <li class="panel cause">
      <div class="cause-head">
        <a class="cause-count" href=${we({group:n?"":e.fingerprint})} aria-expanded=${n} aria-label=${`${C(e.count,"task")} of ${e.error_type}`}>${H(e.count)}</a>
        <div class="cause-text"><p><strong>${e.error_type}</strong> <span class="target">${e.target}</span></p><p class="quiet message">${e.message}</p></div>
        <div class="cause-times quiet"><span>first <${f} at=${e.first} /></span><span>last <${f} at=${e.last} /></span></div>
        <div class="row">
          ${D("operate")&&a`<button class="small primary" onClick=${()=>t({action:"redrive",body:ae(e),what:Oe(e)})}>Retry ${H(e.count)} …</button>`}
          <a class="button small" href=${b(`/tasks/${e.sample_id}`)}>Open one</a>
        </div>
      </div>
      ${n&&a`<${Be} group=${e} />`}
    </li>`}function Be({group:e}){let n=_("dead-letters",{fingerprint:e.fingerprint,namespace:ae(e).namespace,limit:Me});return a`<${T} read=${n}>${({items:t})=>a`<ul class="cause-tasks">${t.map(s=>a`
    <li key=${s.id}><a href=${b(`/tasks/${s.id}`)}>${w(s)}</a><span class="quiet"><${f} at=${s.finished_at} /></span><span class="quiet">${s.error?.message}</span></li>`)}</ul>`}</${T}>`}var le={name:"",namespace:"",tags:"",max_attempts:"",timeout:"",pool:"",limits:[],ordering_key:"",on_dead:"",fairness_key:""},We=2,He={name:"",key:""},J=({name:e,key:n})=>!!(e||n),Fe=[["","the next one starts"],["block","those behind it wait"]],Ce=e=>e.filter(J).map(({name:n,key:t,on_full:s})=>({name:n,...t&&{key:t},...s&&s!=="queue"&&{on_full:s}}));function De({fields:e,change:n,wrong:t}){let s=Object.entries(le).some(([c,i])=>c==="limits"?e.limits.some(J):c!=="namespace"&&e[c]!==i),[r,o]=y(!1),l=(c,i,d={})=>a`<${Q} label=${i} value=${e[c]} error=${t[c]} onChange=${$=>n({[c]:$})} ...${d} />`;return a`
    <details open=${s||r} onToggle=${({currentTarget:c})=>c.open&&o(!0)}><summary>More</summary>
      <div class="fields more">
        ${l("name","Name")}
        ${l("namespace","Namespace",{placeholder:"default"})}
        ${l("max_attempts","Attempts",{inputmode:"numeric",placeholder:"5",error:t["retry.max_attempts"]})}
        ${l("timeout","Timeout, seconds",{inputmode:"decimal",placeholder:"60"})}
        ${l("tags","Tags",{hint:"team:growth, kind:mail"})}
        ${l("ordering_key","Ordering key",{hint:"tasks with one key start one at a time",maxlength:128})}
        ${e.ordering_key&&a`<${re} label="If it dies" value=${e.on_dead} options=${Fe} error=${t.on_dead} onChange=${c=>n({on_dead:c})} />`}
        ${l("fairness_key","Fairness key",{hint:"tasks with different keys take turns",maxlength:128})}
        ${r&&a`<${ze} value=${e.pool} error=${t.pool} onChange=${c=>n({pool:c})} />`}
      </div>
      ${r&&a`<${Qe} limits=${e.limits} namespace=${e.namespace||"default"} wrong=${t} onChange=${c=>n({limits:c})} />`}
    </details>`}function ze({value:e,error:n,onChange:t}){let s=_("lanes",{},{again:!1}),r=new Set((s.data?.items??[]).filter(({lane:o})=>o.includes("/")).map(({lane:o})=>o.split("/")[0]));return e&&r.add(e),r.size?a`<${re} label="Pool" value=${e} error=${n} options=${[["","none"],...[...r].map(o=>[o,o])]} onChange=${t} hint="whose workers run it" />`:null}function Qe({limits:e,namespace:n,wrong:t,onChange:s}){let o=(_("limits",{namespace:"*",limit:100},{again:!1}).data?.items??[]).filter(i=>i.namespace===n).map(({name:i})=>i),l=e.length<We&&e.every(J)?[...e,He]:e,c=(i,d)=>s(l.map(($,u)=>u===i?{...$,...d}:$).filter(($,u)=>u<=i||J($)));return a`
    ${l.map((i,d)=>{let $=l.slice(0,d).filter(J).length;return a`
        <div key=${d} class="fields more">
          <${Q} label=${d?"Second limit":"Limit"} value=${i.name} list="limits" maxlength="64" onChange=${u=>c(d,{name:u})}
            error=${t[`limits.${$}.name`]??t[`limits.${$}.on_full`]} hint=${d?null:"it starts when the limit has room"} />
          <${Q} label=${d?"Key of the second limit":"Key of the limit"} value=${i.key} maxlength="128" placeholder="none" onChange=${u=>c(d,{key:u})} error=${t[`limits.${$}.key`]} />
        </div>`})}
    <datalist id="limits">${o.map(i=>a`<option key=${i} value=${i} />`)}</datalist>`}var Ye=["python","http","sqs","sns","eventbridge","lambda","stepfunctions","dynamodb","email","sql","workflow"],Ie={sqs:{type:"sqs",queue_url:""},sns:{type:"sns",topic_arn:""},eventbridge:{type:"eventbridge",source:"",detail_type:""},lambda:{type:"lambda",function:""},stepfunctions:{type:"stepfunctions",state_machine_arn:""},dynamodb:{type:"dynamodb",table:""},email:{type:"email",to:""},sql:{type:"sql",database:"",statement:""},workflow:{type:"workflow",workflow:""}},Re={type:"python",handler:"",method:"POST",url:"",target:"",payload:"",when:"now",delay:"60",run_at:"",priority:"",...le};function Ke(){let e=S.value.get("from"),n=_("handlers",{},{again:!1}),[t,s]=y(()=>({...Re,handler:S.value.get("handler")??"",namespace:G.value==="*"?"":G.value})),[r,o]=y({busy:!1,problem:null});de(()=>{e&&nt(e).then(m=>s({...Re,...m}),m=>o({busy:!1,problem:m}))},[e]);let l=n.data?.items??[],c=n.data?.items.length===0,i=l.find(({name:m})=>m===t.handler),{body:d,errors:$}=$e(()=>et(t),[t]),u={...$,...at(r.problem)},h=m=>({currentTarget:k})=>s({...t,[m]:k.value});return a`
    <div class="page-head"><h1>${e?"Submit again":"New task"}</h1></div>
    <div class="split even">
      <form class="panel form" onSubmit=${async m=>{if(m?.preventDefault(),!Object.keys($).length){o({busy:!0,problem:null});try{let k=await E("POST","tasks",{body:d});P("Submitted"),Ne(b(`/tasks/${k.id}`,{from:"",ns:S.value.get("ns")}))}catch(k){o({busy:!1,problem:k})}}}}>
        <div class="body form">
          <${Ve} ...${{fields:t,set:h,wrong:u}} known=${l} none=${c} handler=${i} setFields=${s} />
          <${p} label="Payload, JSON" error=${u.payload} hint=${i?.doc}>
            <textarea rows="7" spellcheck=${!1} value=${t.payload} aria-invalid=${!!u.payload} placeholder='{"name": "Ada"}' onInput=${h("payload")}></textarea></${p}>
          ${i?.payload_schema&&a`<${Xe} schema=${i.payload_schema} fill=${m=>s({...t,payload:m})} />`}
          <fieldset class="fields"><legend class="unseen">When</legend>
            <${p} label="When"><select value=${t.when} onChange=${h("when")}><option value="now">Now</option><option value="delay">After a delay</option><option value="run_at">At a time (UTC)</option></select></${p}>
            ${t.when==="delay"&&a`<${p} label="Delay, seconds" error=${u.delay}><input inputmode="decimal" value=${t.delay} aria-invalid=${!!u.delay} onInput=${h("delay")} /></${p}>`}
            ${t.when==="run_at"&&a`<${p} label="Time (UTC)" error=${u.run_at}><input type="datetime-local" value=${t.run_at} onInput=${h("run_at")} /></${p}>`}
            <${p} label="Priority"><select value=${t.priority} onChange=${h("priority")}><option value="">Default</option>${["high","medium","low"].map(m=>a`<option key=${m}>${m}</option>`)}</select></${p}>
          </fieldset>
          <${De} fields=${t} wrong=${u} change=${m=>s({...t,...m})} />
          <${j} problem=${r.problem} />
          ${D("operate")&&a`<div class="row"><button class="primary" disabled=${r.busy||Object.keys($).length>0}>Submit</button></div>`}
        </div>
      </form>
      <section class="panel" aria-label="The same call"><div class="head"><h2>The same call</h2></div><div class="body">
        <${ge} call=${{method:"POST",path:"tasks",body:d,call:"client.submit(**)"}} /></div></section>
    </div>`}function p({label:e,hint:n,error:t,children:s}){return a`<label class="field"><span>${e}</span>${s}${n&&a`<span class="hint">${n}</span>`}${t&&a`<span class="error">${t}</span>`}</label>`}function Ve({fields:e,set:n,wrong:t,known:s,none:r,handler:o,setFields:l}){let c=({currentTarget:{value:i}})=>l({...e,type:i,target:Ie[i]?JSON.stringify(Ie[i],null,2):""});return a`
    <div class="fields">
      <${p} label="Target"><select value=${e.type} onChange=${c}>${Ye.map(i=>a`<option key=${i}>${i}</option>`)}</select></${p}>
      ${e.type==="python"&&a`
        <${p} label="Handler" error=${t["target.handler"]} hint=${o?.module&&`${o.module}${o.line?`:${o.line}`:""}`}>
          <input list="handlers" value=${e.handler} required aria-invalid=${!!t["target.handler"]} placeholder="shop.restock" spellcheck=${!1} autocomplete="off" onInput=${n("handler")} /></${p}>
        <datalist id="handlers">${s.map(({name:i,doc:d})=>a`<option key=${i} value=${i}>${d}</option>`)}</datalist>`}
      ${e.type==="http"&&a`
        <${p} label="Method"><select value=${e.method} onChange=${n("method")}>${["POST","GET","PUT","PATCH","DELETE"].map(i=>a`<option key=${i}>${i}</option>`)}</select></${p}>`}
    </div>
    ${e.type==="http"&&a`<${p} label="URL" error=${t["target.url"]}><input type="url" value=${e.url} required placeholder="https://example.com/hook" aria-invalid=${!!t["target.url"]} onInput=${n("url")} /></${p}>`}
    ${e.target!==""&&a`<${p} label=${"Target, JSON"} error=${t.target}><textarea rows="6" spellcheck=${!1} value=${e.target} aria-invalid=${!!t.target} onInput=${n("target")}></textarea></${p}>`}
    ${r&&e.type==="python"&&a`<${N}>No handlers are registered. Start the runner with <code>duetime local --handlers handlers</code>.</${N}>`}`}function Xe({schema:e,fill:n}){let t=new Set(e.required??[]),s=Object.entries(e.properties??{});if(!s.length)return null;let r=Object.fromEntries(s.filter(([o])=>t.has(o)).map(([o,l])=>[o,qe(l,e)]));return a`<div class="schema"><dl class="facts">${s.map(([o,l])=>a`<dt key=${o}><code>${o}</code></dt>
    <dd class="quiet">${ce(l)}${t.has(o)?", required":l.default!==void 0?`, default ${JSON.stringify(l.default)}`:""}${l.description&&` · ${l.description}`}</dd>`)}</dl>
    <button type="button" class="small" onClick=${()=>n(JSON.stringify(r,null,2))}>Fill in</button></div>`}function ce(e){return e.enum?e.enum.map(n=>JSON.stringify(n)).join(" | "):e.anyOf?e.anyOf.map(ce).join(" | "):e.type==="array"?`list of ${ce(e.items??{})}`:e.$ref?.split("/").pop()??e.format??e.type??"any"}var Ze={string:"",integer:0,number:0,boolean:!1,array:[],object:{}};function qe(e,n){let t=e.$ref&&n.$defs?.[e.$ref.split("/").pop()];return t?qe(t,n):e.default!==void 0?e.default:e.enum?e.enum[0]:Ze[e.type]??null}function et(e){let n={},t=[],s=(i,d)=>t.push(`${JSON.stringify(i)}: ${d}`),r=(i,d)=>{try{s(i,z(q(d),"  "))}catch($){n[i]=`Not JSON: ${$.message}`}},o=(i,d,$=i)=>{d===""||Number.isNaN(Number(d))?n[$]="Not a number":s(i,String(Number(d)))};e.target?r("target",e.target):e.type==="http"?s("target",JSON.stringify({type:"http",url:e.url,...e.method!=="POST"&&{method:e.method}})):s("target",JSON.stringify({type:e.type,handler:e.handler})),e.payload.trim()&&r("payload",e.payload),e.when==="delay"&&o("delay",e.delay),e.when==="run_at"&&e.run_at&&s("run_at",JSON.stringify(`${e.run_at}:00Z`));for(let i of["priority","pool","name","namespace","ordering_key","fairness_key"])e[i]&&s(i,JSON.stringify(e[i]));e.timeout&&o("timeout",e.timeout),e.max_attempts&&s("retry",JSON.stringify({max_attempts:Number(e.max_attempts)||0})),e.ordering_key&&e.on_dead&&s("on_dead",JSON.stringify(e.on_dead));let l=Ce(e.limits);l.length&&s("limits",JSON.stringify(l));let c=tt(e.tags);return Object.keys(c).length&&s("tags",JSON.stringify(c)),{body:`{
  ${t.join(`,
  `)}
}`,errors:n}}function tt(e){let n=e.split(",").map(t=>t.trim()).filter(Boolean);return Object.fromEntries(n.map(t=>[t.split(":")[0].trim(),t.split(":").slice(1).join(":").trim()]))}var at=e=>Object.fromEntries((e?.errors??[]).map(({field:n,message:t})=>[n,t]));async function nt(e){let n=await E("GET",`tasks/${e}`,{text:!0}),t=JSON.parse(n),s=q(n),r=t.target?.type==="python"&&Object.keys(t.target).length===2,o=U(A(s,"payload"));return t.not_shown?.payload&&(o=await E("GET",`tasks/${e}/payload`,{text:!0})),{type:t.target?.type??"python",handler:r?t.target.handler:"",target:r?"":z(A(s,"target")),payload:o==="null"?"":z(q(o)),priority:t.priority==="medium"?"":t.priority,name:t.name??"",namespace:t.namespace==="default"?"":t.namespace,tags:Object.entries(t.tags??{}).map(([l,c])=>`${l}:${c}`).join(", "),max_attempts:t.retry.max_attempts===5?"":String(t.retry.max_attempts),timeout:t.timeout===60?"":String(t.timeout),pool:t.pool??"",limits:(t.limits??[]).map(l=>({...l,key:l.key??""})),ordering_key:t.ordering_key??"",on_dead:t.on_dead==="block"?"block":"",fairness_key:t.fairness_key??""}}var Pe=1e3,st=560,ot=64,v=26,O=16,rt=110,Ae=4,it=.35;function lt(e,n,t){let s=[],r=x(e.created_at);for(let l of n){let c=x(l.started_at),i=c-Math.max(l.drift_ms??0,0);i>r&&s.push({kind:"wait",from:r,to:i}),c>i&&s.push({kind:"drift",from:Math.max(i,r),to:c,ms:l.drift_ms}),r=l.finished_at?x(l.finished_at):Math.max(t,c),s.push({kind:"attempt",from:c,to:r,attempt:l})}let o=x(e.due_at);return["PENDING","ENQUEUED","RETRYING","WAITING"].includes(e.status)&&(o>r&&s.push({kind:"wait",from:r,to:o}),s.push({kind:"due",from:Math.max(o,r),to:Math.max(o,r)})),s}function ct(e,n=Pe){let t=e.filter(({kind:d})=>d!=="wait").reduce((d,{from:$,to:u})=>d+Math.max(u-$,0),0),s=Math.max(t*it,1),r=e.map((d,$)=>{let u=Math.max(d.to-d.from,0);if(d.kind==="due")return{...d,ms:0,fixed:10};if($===0&&d.kind==="wait")return{...d,ms:u,fixed:rt,cut:u>s};let h=d.kind==="wait"&&u>s;return{...d,ms:u,scaled:h?s:u,cut:h}}),o=r.reduce((d,$)=>d+($.fixed??($.kind==="attempt"?Ae:0)),0),l=r.reduce((d,$)=>d+($.scaled??0),0)||1,c=Math.max(n-o-2,0)/l,i=1;return r.map(d=>{let $=d.fixed??d.scaled*c+(d.kind==="attempt"?Ae:0),u={...d,x:i,width:$};return i+=$,u})}function Ge({task:e,attempts:n,now:t,chosen:s,onChoose:r}){let o=matchMedia("(max-width: 640px)").matches?st:Pe,l=ct(lt(e,n,t),o),c=n.length?`${n.length} ${n.length===1?"attempt":"attempts"} of this task`:"No attempt yet";return a`
    <div class="timeline-box"><svg class="timeline" viewBox=${`0 0 ${o} ${ot}`} role="img" aria-label=${c}>
      <title>${c}</title>
      <circle class="start" cx="5" cy=${v+O/2} r="4"><title>submitted ${se(e.created_at)}</title></circle>
      ${l.map((i,d)=>a`<${dt} key=${d} ...${{span:i,chosen:s,onChoose:r}} />`)}
    </svg></div>`}function dt({span:e,chosen:n,onChoose:t}){let{kind:s,x:r,width:o,ms:l,cut:c}=e,i=v+O/2;return s==="attempt"?a`<${$t} ...${{span:e,chosen:n,onChoose:t}} />`:s==="due"?a`<g class="due"><line x1=${r} x2=${r} y1=${v-8} y2=${v+O+8} /><text x=${r-6} y=${v-10} text-anchor="end">due ${se(e.from)}</text></g>`:s==="drift"?a`<g class="drift"><title>drift ${g(l)}</title><line x1=${r} x2=${r} y1=${v-4} y2=${v+O+4} /><line x1=${r} x2=${r+o} y1=${i} y2=${i} /></g>`:a`
    <g class="wait"><title>${g(l)} until due</title><line x1=${r+(r<2?9:0)} x2=${r+o} y1=${i} y2=${i} />
      ${c&&a`<path d=${`M${r+o/2-5} ${i+6} l4 -12 m3 0 l-4 12`} />`}
      ${o>64&&a`<text x=${r+o/2} y=${i-10} text-anchor="middle">${g(l)}</text>`}</g>`}function $t({span:e,chosen:n,onChoose:t}){let{attempt:s,x:r,width:o,ms:l}=e,{number:c,outcome:i}=s,d=`Attempt ${c}: ${(i??"running").replaceAll("_"," ")}, ${g(l)}`,$=()=>t(c);return a`
    <g class=${`attempt tone-${ke(i??"running")} ${n===c?"chosen":""}`} onClick=${$}>
      <title>${d}</title>
      <rect class="hit" x=${r-4} width=${o+8} y=${v-8} height=${O+16} />
      <rect class=${i?"bar":"bar open"} x=${r} width=${o} y=${v} height=${O} rx="3" />
      ${o>14&&a`<text class="in" x=${r+o/2} y=${v+O/2+4} text-anchor="middle">${c}</text>`}
      ${o>46&&a`<text x=${r+o/2} y=${v+O+15} text-anchor="middle">${g(l)}</text>`}
    </g>`}var ut=16*1024,Le=256*1024,Y=["PENDING","ENQUEUED","RETRYING"],mt=[...Y,"RUNNING","WAITING"];async function pt(e){let n=await E("GET",e,{text:!0});return{task:JSON.parse(n),source:q(n)}}function ft({id:e}){let n=_(`tasks/${encodeURIComponent(e)}`,{},{load:pt}),t=_(`tasks/${encodeURIComponent(e)}/attempts`,{},{load:ht}),s=()=>Promise.all([n.reload(),t.reload()]),[r,o]=y(null);return F({topic:"task",task_id:e},l=>l.type==="progress"?o(l.progress):s()),n.problem?.status===404?a`<${I} alone title="There is no such task"><p><code>${e}</code></p><p>It was never submitted, or has been removed since its end.</p><a class="button" href=${b("/tasks")}>Tasks</a></${I}>`:a`<${T} read=${n} rows=${8}>${({task:l,source:c})=>a`
    <${yt} task=${r&&l.status==="RUNNING"?{...l,progress:r}:l} source=${c} attempts=${t.data??[]} problem=${t.problem} reload=${s} />`}</${T}>`}async function ht(e){let n=[],t=null;do{let s=await ue(e,{limit:100,cursor:t});n.push(...s.items),t=s.next_cursor}while(t&&n.length<1e3);return n}function yt({task:e,source:n,attempts:t,problem:s,reload:r}){let o=Number(S.value.get("attempt"))||t.at(-1)?.number,l=d=>Te({attempt:d},{replace:!0}),c=d=>{let $=t.findIndex(({number:u})=>u===o)+d;t[$]&&l(t[$].number)};X({"[":()=>c(-1),"]":()=>c(1)});let i=e.status==="RUNNING";return a`
    <div class="page-head">
      <h1 class="task-name">${w(e)}</h1><${ne} status=${e.status} />
      ${e.cancel_requested&&i&&a`<${R} tone="amber">asked to stop</${R}>`}
      <${Ee} task=${e} />
      ${D("operate")&&a`<${Nt} task=${e} reload=${r} />`}
    </div>
    <p class="quiet ids"><code>${e.id}</code><${Z} text=${e.id} name="id" /></p>
    <div class="stack">
      <section class="panel" aria-label="Timeline"><div class="body">
        <${bt} task=${e} attempts=${t} />
        <${Ge} task=${e} attempts=${t} now=${i?he.value:ye()} chosen=${o} onChoose=${l} />
        ${i&&e.progress&&a`<${gt} progress=${e.progress} />`}
      </div></section>
      <div class="split">
        <div class="stack">
          ${e.error&&a`<${vt} task=${e} attempt=${t.find(({number:d})=>d===o)} />`}
          <${_t} attempts=${t} chosen=${o} choose=${l} problem=${s} />
          <${Ue} task=${e} source=${n} name="payload" />
          ${(e.status==="SUCCEEDED"||e.result!==null||e.not_shown?.result)&&a`<${Ue} task=${e} source=${n} name="result" />`}
        </div>
        <div class="stack"><${xt} task=${e} /><${wt} source=${n} /></div>
      </div>
    </div>`}function bt({task:e,attempts:n}){let t=`attempt ${V(e.attempt,e.retry.max_attempts," of ")}`,s=n.at(-1),r=s?.finished_at?g(x(s.finished_at)-x(s.started_at)):null,o=a`<${f} at=${e.due_at} />`,l=a`<${f} at=${e.due_at} as="relative" />`,c=a`<${f} at=${e.finished_at} />`,i={PENDING:a`Starts ${l}, at ${o}.`,ENQUEUED:a`Due ${l}, at ${o}; it is in the ${e.lane} lane.`,RUNNING:a`Runs since <${f} at=${e.started_at} />, ${t}.`,RETRYING:a`${e.attempt===0?"Starts":`Attempt ${e.attempt} failed. The next one starts`} ${l}, at ${o}.`,WAITING:a`Waits since the end of ${t}.`,SUCCEEDED:a`Succeeded at ${c}, ${t}${r&&a` in ${r}`}${e.drift_ms!==null&&a`, ${g(e.drift_ms)} after it was due`}.`,DEAD:a`Out of attempts, or failed for good, at ${c}: ${t}.`,CANCELLED:a`Cancelled at ${c}${e.reason&&a`: ${fe[e.reason]??e.reason}`}.`,EXPIRED:a`Not started by <${f} at=${e.expires_at} />, so it expired.`};return a`<p class="sentence">${i[e.status]}</p>`}function gt({progress:{fraction:e,message:n}}){return a`<div class="progress"><${_e} share=${e??0} title="Progress" /><p class="quiet">${e!==null&&`${Math.round(e*100)} % `}${n}</p></div>`}function vt({task:e,attempt:n}){let t=n?.error??e.error,s=[`${t.type}: ${t.message}`,t.traceback].filter(Boolean).join(`

`);return a`
    <section class="panel error" aria-label="Error">
      <div class="head"><h2>Error</h2><span class="quiet">attempt ${V(n?.error?n.number:e.error.attempt,e.retry.max_attempts," of ")}</span><${Z} text=${s} name="error" /></div>
      <div class="body"><p><strong class="tone-red error-type">${t.type}</strong></p><pre class="message">${t.message}</pre>
        ${t.traceback&&a`<details open><summary>Traceback</summary><pre class="traceback" tabindex="0">${t.traceback}</pre></details>`}</div>
    </section>`}function _t({attempts:e,chosen:n,choose:t,problem:s}){let r=e.find(({number:o})=>o===n);return a`
    <section class="panel" aria-label="Attempts">
      <div class="head"><h2>Attempts</h2></div>
      ${s&&a`<div class="body"><${j} problem=${s} /></div>`}
      ${e.length?a`<div class="scroll"><table class="rows attempts"><thead><tr><th scope="col" class="narrow">No.</th><th scope="col">Outcome</th><th scope="col">Started</th><th scope="col" class="number">Drift</th><th scope="col" class="number">Took</th><th scope="col">Error</th></tr></thead>
        <tbody>${[...e].reverse().slice(0,100).map(o=>a`
          <tr key=${o.number} class=${`opens ${o.number===n?"selected":""}`} onClick=${()=>t(o.number)}>
            <td class="narrow bare"><button class="link" aria-pressed=${o.number===n} onClick=${()=>t(o.number)}>${o.number}</button></td>
            <td class="bare"><${ne} status=${o.outcome??"running"} /></td>
            <td data-label="Started"><${f} at=${o.started_at} as="ms" /></td>
            <td class="number" data-label="Drift">${g(o.drift_ms)}</td>
            <td class="number" data-label="Took">${o.finished_at?g(x(o.finished_at)-x(o.started_at)):"–"}</td>
            <td class="quiet bare">${o.error?.type}</td>
          </tr>`)}</tbody></table></div>`:a`<${I} title="Not started yet" />`}
      ${r?.log&&a`<div class="body"><h3>Log of attempt ${r.number}</h3><pre class="log" tabindex="0">${r.log}</pre></div>`}
    </section>`}function Ue({task:e,source:n,name:t}){let[s,r]=y(null),o=A(n,t),l=e.not_shown?.[t],c=l||!o?null:U(o),i=t==="payload"?"Payload":"Result",d=s??c,$=d===null?null:new Blob([d]).size,u=async()=>{try{r(await E("GET",`tasks/${e.id}/${t}`,{text:!0}))}catch(k){P(k.message,"red")}},h=a`<a class="button small" href=${`/v1/tasks/${e.id}/${t}`} download=${`${e.id}-${t}.json`}><${M} name="download" />Download</a>`,[B,W]=y(!1),m=Number(/^([\d,]+) bytes/.exec(l??"")?.[1].replaceAll(",","")??0);return a`
    <section class="panel" aria-label=${i}>
      <div class="head"><h2>${i}</h2><span class="quiet">${l&&!s?m?L(m):l:$!==null&&d!=="null"?L($):""}</span></div>
      <div class="body">${l&&!s?a`<p class="row">${m<=Le&&a`<button class="small" onClick=${u}>Load ${L(m)}</button>`}${h}</p>`:d==="null"||d===null?a`<p class="quiet">None</p>`:$>Le?a`<p class="row">${h}</p>`:d.length>ut&&!B?a`<p class="row"><button class="small" onClick=${()=>W(!0)}>Show ${L($)}</button>${h}</p>`:a`<${ie} text=${d} name=${t} />`}</div>
    </section>`}function xt({task:e}){let n=Object.entries(e.tags??{}),t=[["Namespace",a`<a href=${b("/tasks",{ns:e.namespace})}>${e.namespace}</a>`],["Lane",a`${e.lane}${e.promoted_at&&a` <span class="quiet">promoted <${f} at=${e.promoted_at} /></span>`}`],e.pool&&["Pool",a`<code>${e.pool}</code>`],["Submitted",a`<${f} at=${e.created_at} as="stamp" />`],["Run at",a`<${f} at=${e.run_at} as="stamp" />`],Y.includes(e.status)&&["Due",a`<${f} at=${e.due_at} as="stamp" />`],e.finished_at&&["Ended",a`<${f} at=${e.finished_at} as="stamp" />`],e.expires_at&&["Expires",a`<${f} at=${e.expires_at} as="stamp" />`],["Timeout",g(e.timeout*1e3)],["Retries",`${C(e.retry.max_attempts,"attempt")}, ${e.retry.base_delay} s × ${e.retry.multiplier}ⁿ, at most ${g(e.retry.max_delay*1e3)}`],e.schedule_id&&["Schedule",a`<a href=${b(`/schedules/${e.schedule_id}`)}>${e.schedule_id}</a> <span class="quiet"><${f} at=${e.scheduled_for} /></span>`],e.run_id&&["Run",a`<a href=${b(`/runs/${e.run_id}`)}>${e.run_id}</a> <span class="quiet">step ${e.step}${e.index!==null&&` [${e.index}]`}</span>`],e.parent_id&&["Submitted by",a`<a href=${b(`/tasks/${e.parent_id}`)}>${e.parent_id}</a>`],e.unique&&["Unique",a`<code>${e.unique.key}</code> while ${e.unique.while}`],e.ordering_key&&["Ordering key",a`<code>${e.ordering_key}</code>`],e.fairness_key&&["Fairness key",a`<code>${e.fairness_key}</code>`],e.idempotency_key&&["Idempotency key",a`<code>${e.idempotency_key}</code>`],e.limits?.length&&["Limits",e.limits.map(s=>a`<${R} key=${s.name}>${s.name}${s.key&&`: ${s.key}`}</${R}> `)],n.length&&["Tags",n.map(([s,r])=>a`<a key=${s} href=${b("/tasks",{tag:`${s}:${r}`})}><${R}>${s}: ${r}</${R}></a> `)]].filter(Boolean);return a`<section class="panel" aria-label="Details"><div class="head"><h2>Details</h2></div>
    <dl class="body facts">${t.map(([s,r])=>a`<dt key=${s}>${s}</dt><dd>${r}</dd>`)}</dl></section>`}function wt({source:e}){let n=A(e,"target");return a`<section class="panel" aria-label="Target"><div class="head"><h2>Target</h2></div><div class="body">${n&&a`<${ie} text=${U(n)} name="target" />`}</div></section>`}function Nt({task:e,reload:n}){let[t,s]=y(!1),{id:r,status:o}=e,l=async({title:i,text:d,action:$,danger:u,request:h,code:B,done:W})=>{await ve({title:i,action:$,danger:u,run:async()=>await h()??!0,text:a`<p>${d}</p><${ee} call=${B} />`})!==void 0&&(P(W),await n())},c={retry:o==="DEAD"&&(()=>l({title:`Retry ${w(e)}?`,text:`It gets ${C(e.retry.max_attempts,"new attempt")} and starts now.`,action:"Retry",request:()=>K(`tasks/${r}/retry`),done:"Retried",code:{method:"POST",path:`tasks/${r}/retry`,call:`client.retry("${r}")`}})),cancel:mt.includes(o)&&!(o==="RUNNING"&&e.cancel_requested)&&(()=>l({title:`Cancel ${w(e)}?`,text:o==="RUNNING"?"It is running and is asked to stop.":"It will not start.",action:"Cancel the task",danger:!0,request:()=>pe(`tasks/${r}`),done:o==="RUNNING"?"Asked to stop":"Cancelled",code:{method:"DELETE",path:`tasks/${r}`,call:`client.cancel("${r}")`}})),run:Y.includes(o)&&(()=>l({title:`Run ${w(e)} now?`,text:"It becomes due now, without jitter.",action:"Run now",request:()=>K(`tasks/${r}/run`),done:"Due now",code:{method:"POST",path:`tasks/${r}/run`,call:`client.run("${r}")`}})),change:Y.includes(o)&&(()=>s(!0))};return X({...c.retry&&{r:c.retry},...c.cancel&&{c:c.cancel},...c.change&&{e:c.change}}),a`
    <div class="actions">
      ${c.retry&&a`<button class="primary" onClick=${c.retry}><${M} name="refresh" />Retry</button>`}
      ${c.run&&a`<button onClick=${c.run}><${M} name="play" />Run now</button>`}
      ${c.change&&a`<button onClick=${c.change}>Change</button>`}
      ${c.cancel&&a`<button onClick=${c.cancel}><${M} name="cross" />Cancel</button>`}
      <a class="button" href=${b("/new",{from:r,handler:""})}>Edit and submit again</a>
    </div>
    ${t&&a`<${Tt} task=${e} onClose=${i=>{s(!1),i&&n()}} />`}`}function Tt({task:e,onClose:n}){let[t,s]=y({run_at:oe(e.due_at,"UTC"),priority:e.priority,timeout:String(e.timeout),max_attempts:String(e.retry.max_attempts)}),[r,o]=y({busy:!1,problem:null});be(!0);let l=St(e,t),c=d=>({currentTarget:$})=>s({...t,[d]:$.value}),i=async d=>{d.preventDefault(),o({busy:!0,problem:null});try{await me(`tasks/${e.id}`,l),P("Changed"),n(!0)}catch($){o({busy:!1,problem:$})}};return a`<${te} title=${`Change ${w(e)}`} onClose=${()=>n(!1)}>
    <form class="form" onSubmit=${i}>
      <div class="fields">
        <label class="field"><span>Due (UTC)</span><input type="datetime-local" value=${t.run_at} onInput=${c("run_at")} /></label>
        <label class="field"><span>Priority</span><select value=${t.priority} onChange=${c("priority")}>${["high","medium","low"].map(d=>a`<option key=${d}>${d}</option>`)}</select></label>
        <label class="field"><span>Timeout, seconds</span><input inputmode="decimal" value=${t.timeout} onInput=${c("timeout")} /></label>
        <label class="field"><span>Attempts in all</span><input inputmode="numeric" value=${t.max_attempts} onInput=${c("max_attempts")} /></label>
      </div>
      <${j} problem=${r.problem} />
      <${ee} call=${{method:"PATCH",path:`tasks/${e.id}`,body:l,call:`client.change("${e.id}", **${JSON.stringify(l)})`}} />
      <div class="dialog-actions"><button type="button" onClick=${()=>n(!1)}>Back</button><button class="primary" disabled=${r.busy||!Object.keys(l).length}>Change</button></div>
    </form></${te}>`}function St(e,{run_at:n,priority:t,timeout:s,max_attempts:r}){let o={};return n&&n!==oe(e.due_at,"UTC")&&(o.run_at=`${n}:00Z`),t!==e.priority&&(o.priority=t),s!==String(e.timeout)&&(o.timeout=Number(s)),r!==String(e.retry.max_attempts)&&(o.retry={max_attempts:Number(r)}),o}export{je as Dead,Ke as New,ft as Task};
