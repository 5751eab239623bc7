import{d as _e,e as X,f as we,h as te,i as Oe,j as Ce}from"./chunk-5WAJXVLO.js";import{a as re}from"./chunk-GZBACDI2.js";import{a as R,b as A,c as G,d as F}from"./chunk-EIGJSXCB.js";import{d as Y,e as oe}from"./chunk-4ESZ3CAD.js";import{c as xe}from"./chunk-YNIGVURB.js";import{Aa as I,F as K,Ia as x,K as ye,Ka as ne,L as fe,Ma as se,Na as g,Pa as y,Q as D,S as he,T as be,U as ge,W as U,X as P,_ as V,aa as q,b as h,ba as J,c as ce,ca as N,e as de,ea as T,fa as ee,ga as ve,i as a,ja as S,ka as b,l as $e,la as Ne,m as Q,ma as Te,na as Se,o as ue,p as pe,q as E,qa as j,r as H,s as C,u as L,va as ke,w as Z,wa as v,x as w,y as me,ya as Ee,za as ae}from"./chunk-KGWSR3YK.js";var Je=100,Me=2e3;function Be(){let e=j.value==="*"?void 0:j.value,n=ke({namespace:e}),[t,s]=h(null);be({topic:"tasks",filter:{status:["DEAD"]}},n.reload,Me,{atOnce:!0});let r=S.value.get("group"),o=l=>{s(null),l&&n.reload()};if(n.problem?.status===404)return a`<div class="page-head"><h1>Dead letters</h1></div><${N}>This server does not group dead letters. <a href=${b("/tasks",{status:"DEAD"})}>List the dead tasks</a>.</${N}>`;let i=n.data?.items.reduce((l,d)=>l+d.count,0);return a`
    <div class="page-head"><h1>Dead letters</h1>${i>0&&a`<span class="quiet">${C(i,"task")}, ${C(n.data.items.length,"cause")}</span>`}
      ${D("operate")&&i>0&&a`<div class="actions">
        <button onClick=${()=>s({action:"redrive",body:e?{namespace:e}:{all:!0},what:a`<p>Every dead task${e&&a` of the namespace ${e}`}. Is each cause fixed?</p>`})}>Retry all …</button>
        <button onClick=${()=>s({action:"discard",body:e?{namespace:e}:{all:!0},what:a`<p>Gives up every dead task${e&&a` of the namespace ${e}`}. Each becomes cancelled and cannot be retried.</p>`})}>Discard all …</button></div>`}
    </div>
    <${T} read=${n} rows=${6}>${({items:l,complete:d,looked_at:c})=>l.length?a`
      ${d===!1&&a`<${N} tone="amber" icon="alert">Only the latest ${H(c)} dead tasks were read.</${N}>`}
      <ul class="causes">${l.map($=>a`<${We} key=${$.fingerprint} group=${$} open=${$.fingerprint===r} onAct=${s} />`)}</ul>`:a`<div class="panel"><${q} title="No dead tasks">A task that is out of attempts, or failed for good, is listed here.</${q}></div>`}</${T}>
    ${t&&a`<${we} ...${t} onClose=${o} />`}`}function We({group:e,open:n,onAct:t}){return a`
    <li class="panel cause">
      <div class="cause-head">
        <a class="cause-count" href=${Ne({group:n?"":e.fingerprint})} aria-expanded=${n} aria-label=${`${C(e.count,"task")} of ${e.error_type}`}>${H(e.count)}</a>
        <div class="cause-text"><p><strong>${e.error_type}</strong> <span class="target">${e.target}</span></p><p class="quiet message">${e.message}</p></div>
        <div class="cause-times quiet"><span>first <${y} at=${e.first} /></span><span>last <${y} at=${e.last} /></span></div>
        <div class="row">
          ${D("operate")&&a`<button class="small primary" onClick=${()=>t({action:"redrive",body:te(e),what:Oe(e)})}>Retry ${H(e.count)} …</button>`}
          <a class="button small" href=${b(`/tasks/${e.sample_id}`)}>Open one</a>
        </div>
      </div>
      ${n&&a`<${He} group=${e} />`}
    </li>`}function He({group:e}){let n=v("dead-letters",{fingerprint:e.fingerprint,namespace:te(e).namespace,limit:Je});return a`<${T} read=${n}>${({items:t})=>a`<ul class="cause-tasks">${t.map(s=>a`
    <li key=${s.id}><a href=${b(`/tasks/${s.id}`)}>${w(s)}</a><span class="quiet"><${y} at=${s.finished_at} /></span><span class="quiet">${s.error?.message}</span></li>`)}</ul>`}</${T}>`}var ie={name:"",namespace:"",tags:"",max_attempts:"",timeout:"",pool:"",limits:[],ordering_key:"",on_dead:"",fairness_key:"",jitter:"",expires_at:"",unique_key:""},Fe=2,Ye={name:"",key:""},M=({name:e,key:n})=>!!(e||n),ze=[["","the next one starts"],["block","those behind it wait"]],De=e=>e.filter(M).map(({name:n,key:t,on_full:s})=>({name:n,...t&&{key:t},...s&&s!=="queue"&&{on_full:s}}));function qe({fields:e,change:n,wrong:t}){let s=Object.entries(ie).some(([l,d])=>l==="limits"?e.limits.some(M):l!=="namespace"&&e[l]!==d),[r,o]=h(!1),i=(l,d,c={})=>a`<${Y} label=${d} value=${e[l]} error=${t[l]} onChange=${$=>n({[l]:$})} ...${c} />`;return a`
    <details open=${s||r} onToggle=${({currentTarget:l})=>l.open&&o(!0)}><summary>More</summary>
      <div class="fields more">
        ${i("name","Name")}
        ${i("namespace","Namespace",{placeholder:"default"})}
        ${i("max_attempts","Attempts",{inputmode:"numeric",placeholder:"5",error:t["retry.max_attempts"]})}
        ${i("timeout","Timeout, seconds",{inputmode:"decimal",placeholder:"60"})}
        ${i("tags","Tags",{hint:"team:growth, kind:mail"})}
        ${i("ordering_key","Ordering key",{hint:"tasks with one key start one at a time",maxlength:128})}
        ${e.ordering_key&&a`<${oe} label="If it dies" value=${e.on_dead} options=${ze} error=${t.on_dead} onChange=${l=>n({on_dead:l})} />`}
        ${i("fairness_key","Fairness key",{hint:"tasks with different keys take turns",maxlength:128})}
        ${i("jitter","Jitter, seconds",{hint:"adds 0 to this many to the due time",inputmode:"decimal",placeholder:"0"})}
        ${i("expires_at","Expires (UTC)",{hint:"is not started later",type:"datetime-local",step:"0.001"})}
        ${i("unique_key","Unique key",{hint:"at most one live task has it",maxlength:128,error:t["unique.key"]??t.unique})}
        ${r&&a`<${Qe} value=${e.pool} error=${t.pool} onChange=${l=>n({pool:l})} />`}
      </div>
      ${r&&a`<${Ze} limits=${e.limits} namespace=${e.namespace||"default"} wrong=${t} onChange=${l=>n({limits:l})} />`}
    </details>`}function Qe({value:e,error:n,onChange:t}){let s=v("lanes",{},{again:!1}),r=new Set((s.data?.items??[]).filter(({lane:o})=>o.includes("/")).map(({lane:o})=>o.split("/")[0]));return e&&r.add(e),r.size?a`<${oe} label="Pool" value=${e} error=${n} options=${[["","none"],...[...r].map(o=>[o,o])]} onChange=${t} hint="whose workers run it" />`:null}function Ze({limits:e,namespace:n,wrong:t,onChange:s}){let o=(v("limits",{namespace:"*",limit:100},{again:!1}).data?.items??[]).filter(d=>d.namespace===n).map(({name:d})=>d),i=e.length<Fe&&e.every(M)?[...e,Ye]:e,l=(d,c)=>s(i.map(($,u)=>u===d?{...$,...c}:$).filter(($,u)=>u<=d||M($)));return a`
    ${i.map((d,c)=>{let $=i.slice(0,c).filter(M).length;return a`
        <div key=${c} class="fields more">
          <${Y} label=${c?"Second limit":"Limit"} value=${d.name} list="limits" maxlength="64" onChange=${u=>l(c,{name:u})}
            error=${t[`limits.${$}.name`]??t[`limits.${$}.on_full`]} hint=${c?null:"it starts when the limit has room"} />
          <${Y} label=${c?"Key of the second limit":"Key of the limit"} value=${d.key} maxlength="128" placeholder="none" onChange=${u=>l(c,{key:u})} error=${t[`limits.${$}.key`]} />
        </div>`})}
    <datalist id="limits">${o.map(d=>a`<option key=${d} value=${d} />`)}</datalist>`}var Ke=["python","http","sqs","sns","eventbridge","lambda","stepfunctions","dynamodb","email","sql","workflow"],Ie={sqs:{type:"sqs",queue_url:""},sns:{type:"sns",topic_arn:""},eventbridge:{type:"eventbridge",source:"",detail_type:""},lambda:{type:"lambda",function:""},stepfunctions:{type:"stepfunctions",state_machine_arn:""},dynamodb:{type:"dynamodb",table:""},email:{type:"email",to:""},sql:{type:"sql",database:"",statement:""},workflow:{type:"workflow",workflow:""}},Re={type:"python",handler:"",method:"POST",url:"",target:"",payload:"",when:"now",delay:"60",run_at:"",priority:"",...ie,retry:{},unique:{}};function Ve(){let e=S.value.get("from"),n=v("handlers",{},{again:!1}),[t,s]=h(()=>({...Re,handler:S.value.get("handler")??"",namespace:j.value==="*"?"":j.value})),[r,o]=h({busy:!1,problem:null});ce(()=>{e&&it(e).then(p=>s({...Re,...p}),p=>o({busy:!1,problem:p}))},[e]);let i=n.data?.items??[],l=n.data?.items.length===0,d=i.find(({name:p})=>p===t.handler),{body:c,errors:$}=de(()=>at(t),[t]),u={...$,...st(r.problem)},f=p=>({currentTarget:O})=>s({...t,[p]:O.value});return a`
    <div class="page-head"><h1>${e?"Submit again":"New task"}</h1></div>
    <div class="split even">
      <form class="panel form" onSubmit=${async p=>{if(p?.preventDefault(),!Object.keys($).length){o({busy:!0,problem:null});try{let O=await E("POST","tasks",{body:c});P("Submitted"),Te(b(`/tasks/${O.id}`,{from:"",ns:S.value.get("ns")}))}catch(O){o({busy:!1,problem:O})}}}}>
        <div class="body form">
          <${Xe} ...${{fields:t,set:f,wrong:u}} known=${i} none=${l} handler=${d} setFields=${s} />
          <${m} label="Payload, JSON" error=${u.payload} hint=${d?.doc}>
            <textarea rows="7" spellcheck=${!1} value=${t.payload} aria-invalid=${!!u.payload} placeholder='{"name": "Ada"}' onInput=${f("payload")}></textarea></${m}>
          ${d?.payload_schema&&a`<${et} schema=${d.payload_schema} fill=${p=>s({...t,payload:p})} />`}
          <fieldset class="fields"><legend class="unseen">When</legend>
            <${m} label="When"><select value=${t.when} onChange=${f("when")}><option value="now">Now</option><option value="delay">After a delay</option><option value="run_at">At a time (UTC)</option></select></${m}>
            ${t.when==="delay"&&a`<${m} label="Delay, seconds" error=${u.delay}><input inputmode="decimal" value=${t.delay} aria-invalid=${!!u.delay} onInput=${f("delay")} /></${m}>`}
            ${t.when==="run_at"&&a`<${m} label="Time (UTC)" error=${u.run_at}><input type="datetime-local" value=${t.run_at} onInput=${f("run_at")} /></${m}>`}
            <${m} label="Priority"><select value=${t.priority} onChange=${f("priority")}><option value="">Default</option>${["high","medium","low"].map(p=>a`<option key=${p}>${p}</option>`)}</select></${m}>
          </fieldset>
          <${qe} fields=${t} wrong=${u} change=${p=>s({...t,...p})} />
          <${J} problem=${r.problem} />
          ${D("operate")&&a`<div class="row"><button class="primary" disabled=${r.busy||Object.keys($).length>0}>Submit</button></div>`}
        </div>
      </form>
      <section class="panel" aria-label="The same call"><div class="head"><h2>The same call</h2></div><div class="body">
        <${_e} call=${{method:"POST",path:"tasks",body:c,call:"client.submit(**)"}} /></div></section>
    </div>`}function m({label:e,hint:n,error:t,children:s}){return a`<label class="field"><span>${e}</span>${s}${n&&a`<span class="hint">${n}</span>`}${t&&a`<span class="error">${t}</span>`}</label>`}function Xe({fields:e,set:n,wrong:t,known:s,none:r,handler:o,setFields:i}){let l=({currentTarget:{value:d}})=>i({...e,type:d,target:Ie[d]?JSON.stringify(Ie[d],null,2):""});return a`
    <div class="fields">
      <${m} label="Target"><select value=${e.type} onChange=${l}>${Ke.map(d=>a`<option key=${d}>${d}</option>`)}</select></${m}>
      ${e.type==="python"&&a`
        <${m} label="Handler" error=${t["target.handler"]} hint=${o?.module&&`${o.module}${o.line?`:${o.line}`:""}`}>
          <input list="handlers" value=${e.handler} required aria-invalid=${!!t["target.handler"]} placeholder="shop.restock" spellcheck=${!1} autocomplete="off" onInput=${n("handler")} /></${m}>
        <datalist id="handlers">${s.map(({name:d,doc:c})=>a`<option key=${d} value=${d}>${c}</option>`)}</datalist>`}
      ${e.type==="http"&&a`
        <${m} label="Method"><select value=${e.method} onChange=${n("method")}>${["POST","GET","PUT","PATCH","DELETE"].map(d=>a`<option key=${d}>${d}</option>`)}</select></${m}>`}
    </div>
    ${e.type==="http"&&a`<${m} label="URL" error=${t["target.url"]}><input type="url" value=${e.url} required placeholder="https://example.com/hook" aria-invalid=${!!t["target.url"]} onInput=${n("url")} /></${m}>`}
    ${e.target!==""&&a`<${m} label=${"Target, JSON"} error=${t.target}><textarea rows="6" spellcheck=${!1} value=${e.target} aria-invalid=${!!t.target} onInput=${n("target")}></textarea></${m}>`}
    ${r&&e.type==="python"&&a`<${N}>No handlers are registered. Start the runner with <code>duetime local --handlers handlers</code>.</${N}>`}`}function et({schema:e,fill:n}){let t=new Set(e.required??[]),s=Object.entries(e.properties??{});if(!s.length)return null;let r=Object.fromEntries(s.filter(([o])=>t.has(o)).map(([o,i])=>[o,Ae(i,e)]));return a`<div class="schema"><dl class="facts">${s.map(([o,i])=>a`<dt key=${o}><code>${o}</code></dt>
    <dd class="quiet">${le(i)}${t.has(o)?", required":i.default!==void 0?`, default ${JSON.stringify(i.default)}`:""}${i.description&&` · ${i.description}`}</dd>`)}</dl>
    <button type="button" class="small" onClick=${()=>n(JSON.stringify(r,null,2))}>Fill in</button></div>`}function le(e){return e.enum?e.enum.map(n=>JSON.stringify(n)).join(" | "):e.anyOf?e.anyOf.map(le).join(" | "):e.type==="array"?`list of ${le(e.items??{})}`:e.$ref?.split("/").pop()??e.format??e.type??"any"}var tt={string:"",integer:0,number:0,boolean:!1,array:[],object:{}};function Ae(e,n){let t=e.$ref&&n.$defs?.[e.$ref.split("/").pop()];return t?Ae(t,n):e.default!==void 0?e.default:e.enum?e.enum[0]:tt[e.type]??null}function at(e){let n={},t=[],s=(c,$)=>t.push(`${JSON.stringify(c)}: ${$}`),r=(c,$)=>{try{s(c,F(R($),"  "))}catch(u){n[c]=`Not JSON: ${u.message}`}},o=(c,$,u=c)=>{$===""||Number.isNaN(Number($))?n[u]="Not a number":s(c,String(Number($)))};e.target?r("target",e.target):e.type==="http"?s("target",JSON.stringify({type:"http",url:e.url,...e.method!=="POST"&&{method:e.method}})):s("target",JSON.stringify({type:e.type,handler:e.handler})),e.payload.trim()&&r("payload",e.payload),e.when==="delay"&&o("delay",e.delay),e.when==="run_at"&&e.run_at&&s("run_at",JSON.stringify(`${e.run_at}:00Z`));for(let c of["priority","pool","name","namespace","ordering_key","fairness_key"])e[c]&&s(c,JSON.stringify(e[c]));e.timeout&&o("timeout",e.timeout);let i={...e.max_attempts&&{max_attempts:Number(e.max_attempts)||0},...e.retry};Object.keys(i).length&&s("retry",JSON.stringify(i)),e.jitter&&o("jitter",e.jitter),e.expires_at&&s("expires_at",JSON.stringify(new Date(`${e.expires_at}Z`).toISOString())),e.unique_key&&s("unique",JSON.stringify({key:e.unique_key,...e.unique})),e.ordering_key&&e.on_dead&&s("on_dead",JSON.stringify(e.on_dead));let l=De(e.limits);l.length&&s("limits",JSON.stringify(l));let d=nt(e.tags);return Object.keys(d).length&&s("tags",JSON.stringify(d)),{body:`{
  ${t.join(`,
  `)}
}`,errors:n}}function nt(e){let n=e.split(",").map(t=>t.trim()).filter(Boolean);return Object.fromEntries(n.map(t=>[t.split(":")[0].trim(),t.split(":").slice(1).join(":").trim()]))}var st=e=>Object.fromEntries((e?.errors??[]).map(({field:n,message:t})=>[n,t])),ot={base_delay:1,multiplier:2,max_delay:3600,jitter:.5},rt=e=>Object.entries(e).every(([n,t])=>t===ot[n]);async function it(e){let n=await E("GET",`tasks/${e}`,{text:!0}),t=JSON.parse(n),s=R(n),r=t.target?.type==="python"&&Object.keys(t.target).length===2,{max_attempts:o,...i}=t.retry,{key:l,...d}=t.unique??{key:""},c=G(A(s,"payload"));return t.not_shown?.payload&&(c=await E("GET",`tasks/${e}/payload`,{text:!0})),{type:t.target?.type??"python",handler:r?t.target.handler:"",target:r?"":F(A(s,"target")),payload:c==="null"?"":F(R(c)),priority:t.priority==="medium"?"":t.priority,name:t.name??"",namespace:t.namespace==="default"?"":t.namespace,tags:Object.entries(t.tags??{}).map(([$,u])=>`${$}:${u}`).join(", "),max_attempts:o===5?"":String(o),retry:rt(i)?{}:i,unique:d,unique_key:l,jitter:t.jitter?String(t.jitter):"",expires_at:t.expires_at?.replace("Z","")??"",timeout:t.timeout===60?"":String(t.timeout),pool:t.pool??"",limits:(t.limits??[]).map($=>({...$,key:$.key??""})),ordering_key:t.ordering_key??"",on_dead:t.on_dead==="block"?"block":"",fairness_key:t.fairness_key??""}}var je=1e3,lt=560,ct=64,_=26,k=16,dt=110,Pe=4,$t=.35;function ut(e,n,t){let s=[],r=x(e.created_at);for(let i of n){let l=x(i.started_at),d=l-Math.max(i.drift_ms??0,0);d>r&&s.push({kind:"wait",from:r,to:d}),l>d&&s.push({kind:"drift",from:Math.max(d,r),to:l,ms:i.drift_ms}),r=i.finished_at?x(i.finished_at):Math.max(t,l),s.push({kind:"attempt",from:l,to:r,attempt:i})}let o=x(e.due_at);return["PENDING","ENQUEUED","RETRYING","WAITING"].includes(e.status)&&(o>r&&s.push({kind:"wait",from:r,to:o}),s.push({kind:"due",from:Math.max(o,r),to:Math.max(o,r)})),s}function pt(e,n=je){let t=e.filter(({kind:c})=>c!=="wait").reduce((c,{from:$,to:u})=>c+Math.max(u-$,0),0),s=Math.max(t*$t,1),r=e.map((c,$)=>{let u=Math.max(c.to-c.from,0);if(c.kind==="due")return{...c,ms:0,fixed:10};if($===0&&c.kind==="wait")return{...c,ms:u,fixed:dt,cut:u>s};let f=c.kind==="wait"&&u>s;return{...c,ms:u,scaled:f?s:u,cut:f}}),o=r.reduce((c,$)=>c+($.fixed??($.kind==="attempt"?Pe:0)),0),i=r.reduce((c,$)=>c+($.scaled??0),0)||1,l=Math.max(n-o-2,0)/i,d=1;return r.map(c=>{let $=c.fixed??c.scaled*l+(c.kind==="attempt"?Pe:0),u={...c,x:d,width:$};return d+=$,u})}function Le({task:e,attempts:n,now:t,chosen:s,onChoose:r}){let o=matchMedia("(max-width: 640px)").matches?lt:je,i=pt(ut(e,n,t),o),l=n.length?`${n.length} ${n.length===1?"attempt":"attempts"} of this task`:"No attempt yet";return a`
    <div class="timeline-box"><svg class="timeline" viewBox=${`0 0 ${o} ${ct}`} role="img" aria-label=${l}>
      <title>${l}</title>
      <circle class="start" cx="5" cy=${_+k/2} r="4"><title>submitted ${ne(e.created_at)}</title></circle>
      ${i.map((d,c)=>a`<${mt} key=${c} ...${{span:d,chosen:s,onChoose:r}} />`)}
    </svg></div>`}function mt({span:e,chosen:n,onChoose:t}){let{kind:s,x:r,width:o,ms:i,cut:l}=e,d=_+k/2;return s==="attempt"?a`<${yt} ...${{span:e,chosen:n,onChoose:t}} />`:s==="due"?a`<g class="due"><line x1=${r} x2=${r} y1=${_-8} y2=${_+k+8} /><text x=${r-6} y=${_-10} text-anchor="end">due ${ne(e.from)}</text></g>`:s==="drift"?a`<g class="drift"><title>drift ${g(i)}</title><line x1=${r} x2=${r} y1=${_-4} y2=${_+k+4} /><line x1=${r} x2=${r+o} y1=${d} y2=${d} /></g>`:a`
    <g class="wait"><title>${g(i)} until due</title><line x1=${r+(r<2?9:0)} x2=${r+o} y1=${d} y2=${d} />
      ${l&&a`<path d=${`M${r+o/2-5} ${d+6} l4 -12 m3 0 l-4 12`} />`}
      ${o>64&&a`<text x=${r+o/2} y=${d-10} text-anchor="middle">${g(i)}</text>`}</g>`}function yt({span:e,chosen:n,onChoose:t}){let{attempt:s,x:r,width:o,ms:i}=e,{number:l,outcome:d}=s,c=`Attempt ${l}: ${(d??"running").replaceAll("_"," ")}, ${g(i)}`,$=()=>t(l);return a`
    <g class=${`attempt tone-${Ee(d??"running")} ${n===l?"chosen":""}`} onClick=${$}>
      <title>${c}</title>
      <rect class="hit" x=${r-4} width=${o+8} y=${_-8} height=${k+16} />
      <rect class=${d?"bar":"bar open"} x=${r} width=${o} y=${_} height=${k} rx="3" />
      ${o>14&&a`<text class="in" x=${r+o/2} y=${_+k/2+4} text-anchor="middle">${l}</text>`}
      ${o>46&&a`<text x=${r+o/2} y=${_+k+15} text-anchor="middle">${g(i)}</text>`}
    </g>`}var ft=16*1024,Ge=256*1024,z=["PENDING","ENQUEUED","RETRYING"],ht=[...z,"RUNNING","WAITING"];async function bt(e){let n=await E("GET",e,{text:!0});return{task:JSON.parse(n),source:R(n)}}function gt({id:e}){let n=v(`tasks/${encodeURIComponent(e)}`,{},{load:bt}),t=v(`tasks/${encodeURIComponent(e)}/attempts`,{},{load:_t}),s=()=>Promise.all([n.reload(),t.reload()]),[r,o]=h(null);return he({topic:"task",task_id:e},i=>i.type==="progress"?o(i.progress):s()),n.problem?.status===404?a`<${q} alone title="There is no such task"><p><code>${e}</code></p><p>It was never submitted, or has been removed since its end.</p><a class="button" href=${b("/tasks")}>Tasks</a></${q}>`:a`<${T} read=${n} rows=${8}>${({task:i,source:l})=>a`
    <${vt} task=${r&&i.status==="RUNNING"?{...i,progress:r}:i} source=${l} attempts=${t.data??[]} problem=${t.problem} reload=${s} />`}</${T}>`}async function _t(e){let n=[],t=null;do{let s=await $e(e,{limit:100,cursor:t});n.push(...s.items),t=s.next_cursor}while(t&&n.length<1e3);return n}function vt({task:e,source:n,attempts:t,problem:s,reload:r}){let o=Number(S.value.get("attempt"))||t.at(-1)?.number,i=c=>Se({attempt:c},{replace:!0}),l=c=>{let $=t.findIndex(({number:u})=>u===o)+c;t[$]&&i(t[$].number)};K({"[":()=>l(-1),"]":()=>l(1)});let d=e.status==="RUNNING";return a`
    <div class="page-head">
      <h1 class="task-name">${w(e)}</h1><${ae} status=${e.status} />
      ${e.cancel_requested&&d&&a`<${I} tone="amber">asked to stop</${I}>`}
      <${Ce} task=${e} />
      ${D("operate")&&a`<${Ot} task=${e} reload=${r} />`}
    </div>
    <p class="quiet ids"><code>${e.id}</code><${V} text=${e.id} name="id" /></p>
    <div class="stack">
      <section class="panel" aria-label="Timeline"><div class="body">
        <${xt} task=${e} attempts=${t} />
        <${Le} task=${e} attempts=${t} now=${d?ye.value:fe()} chosen=${o} onChoose=${i} />
        ${d&&e.progress&&a`<${wt} progress=${e.progress} />`}
      </div></section>
      <div class="split">
        <div class="stack">
          ${e.error&&a`<${Nt} task=${e} attempt=${t.find(({number:c})=>c===o)} />`}
          <${Tt} attempts=${t} chosen=${o} choose=${i} problem=${s} />
          <${Ue} task=${e} source=${n} name="payload" />
          ${(e.status==="SUCCEEDED"||e.result!==null||e.not_shown?.result)&&a`<${Ue} task=${e} source=${n} name="result" />`}
        </div>
        <div class="stack"><${St} task=${e} /><${kt} source=${n} /></div>
      </div>
    </div>`}function xt({task:e,attempts:n}){let t=`attempt ${Z(e.attempt,e.retry.max_attempts," of ")}`,s=n.at(-1),r=s?.finished_at?g(x(s.finished_at)-x(s.started_at)):null,o=a`<${y} at=${e.due_at} />`,i=a`<${y} at=${e.due_at} as="relative" />`,l=a`<${y} at=${e.finished_at} />`,d={PENDING:a`Starts ${i}, at ${o}.`,ENQUEUED:a`Due ${i}, at ${o}; it is in the ${e.lane} lane.`,RUNNING:a`Runs since <${y} at=${e.started_at} />, ${t}.`,RETRYING:a`${e.attempt===0?"Starts":`Attempt ${e.attempt} failed. The next one starts`} ${i}, at ${o}.`,WAITING:a`Waits since the end of ${t}.`,SUCCEEDED:a`Succeeded at ${l}, ${t}${r&&a` in ${r}`}${e.drift_ms!==null&&a`, ${g(e.drift_ms)} after it was due`}.`,DEAD:a`Out of attempts, or failed for good, at ${l}: ${t}.`,CANCELLED:a`Cancelled at ${l}${e.reason&&a`: ${me[e.reason]??e.reason}`}.`,EXPIRED:a`Not started by <${y} at=${e.expires_at} />, so it expired.`};return a`<p class="sentence">${d[e.status]}</p>`}function wt({progress:{fraction:e,message:n}}){return a`<div class="progress"><${xe} share=${e??0} title="Progress" /><p class="quiet">${e!==null&&`${Math.round(e*100)} % `}${n}</p></div>`}function Nt({task:e,attempt:n}){let t=n?.error??e.error,s=[`${t.type}: ${t.message}`,t.traceback].filter(Boolean).join(`

`);return a`
    <section class="panel error" aria-label="Error">
      <div class="head"><h2>Error</h2><span class="quiet">attempt ${Z(n?.error?n.number:e.error.attempt,e.retry.max_attempts," of ")}</span><${V} text=${s} name="error" /></div>
      <div class="body"><p><strong class="tone-red error-type">${t.type}</strong></p><pre class="message">${t.message}</pre>
        ${t.traceback&&a`<details open><summary>Traceback</summary><pre class="traceback" tabindex="0">${t.traceback}</pre></details>`}</div>
    </section>`}function Tt({attempts:e,chosen:n,choose:t,problem:s}){let r=e.find(({number:o})=>o===n);return a`
    <section class="panel" aria-label="Attempts">
      <div class="head"><h2>Attempts</h2></div>
      ${s&&a`<div class="body"><${J} problem=${s} /></div>`}
      ${e.length?a`<div class="scroll"><table class="rows attempts"><thead><tr><th scope="col" class="narrow">No.</th><th scope="col">Outcome</th><th scope="col">Started</th><th scope="col" class="number">Drift</th><th scope="col" class="number">Took</th><th scope="col">Error</th></tr></thead>
        <tbody>${[...e].reverse().slice(0,100).map(o=>a`
          <tr key=${o.number} class=${`opens ${o.number===n?"selected":""}`} onClick=${()=>t(o.number)}>
            <td class="narrow bare"><button class="link" aria-pressed=${o.number===n} onClick=${()=>t(o.number)}>${o.number}</button></td>
            <td class="bare"><${ae} status=${o.outcome??"running"} /></td>
            <td data-label="Started"><${y} at=${o.started_at} as="ms" /></td>
            <td class="number" data-label="Drift">${g(o.drift_ms)}</td>
            <td class="number" data-label="Took">${o.finished_at?g(x(o.finished_at)-x(o.started_at)):"–"}</td>
            <td class="quiet bare">${o.error?.type}</td>
          </tr>`)}</tbody></table></div>`:a`<${q} title="Not started yet" />`}
      ${r?.log&&a`<div class="body"><h3>Log of attempt ${r.number}</h3><pre class="log" tabindex="0">${r.log}</pre></div>`}
    </section>`}function Ue({task:e,source:n,name:t}){let[s,r]=h(null),o=A(n,t),i=e.not_shown?.[t],l=i||!o?null:G(o),d=t==="payload"?"Payload":"Result",c=s??l,$=c===null?null:new Blob([c]).size,u=async()=>{try{r(await E("GET",`tasks/${e.id}/${t}`,{text:!0}))}catch(O){P(O.message,"red")}},f=a`<a class="button small" href=${`/v1/tasks/${e.id}/${t}`} download=${`${e.id}-${t}.json`}><${U} name="download" />Download</a>`,[B,W]=h(!1),p=Number(/^([\d,]+) bytes/.exec(i??"")?.[1].replaceAll(",","")??0);return a`
    <section class="panel" aria-label=${d}>
      <div class="head"><h2>${d}</h2><span class="quiet">${i&&!s?p?L(p):i:$!==null&&c!=="null"?L($):""}</span></div>
      <div class="body">${i&&!s?a`<p class="row">${p<=Ge&&a`<button class="small" onClick=${u}>Load ${L(p)}</button>`}${f}</p>`:c==="null"||c===null?a`<p class="quiet">None</p>`:$>Ge?a`<p class="row">${f}</p>`:c.length>ft&&!B?a`<p class="row"><button class="small" onClick=${()=>W(!0)}>Show ${L($)}</button>${f}</p>`:a`<${re} text=${c} name=${t} />`}</div>
    </section>`}function St({task:e}){let n=Object.entries(e.tags??{}),t=[["Namespace",a`<a href=${b("/tasks",{ns:e.namespace})}>${e.namespace}</a>`],["Lane",a`${e.lane}${e.promoted_at&&a` <span class="quiet">promoted <${y} at=${e.promoted_at} /></span>`}`],e.pool&&["Pool",a`<code>${e.pool}</code>`],["Submitted",a`<${y} at=${e.created_at} as="stamp" />`],["Run at",a`<${y} at=${e.run_at} as="stamp" />`],z.includes(e.status)&&["Due",a`<${y} at=${e.due_at} as="stamp" />`],e.finished_at&&["Ended",a`<${y} at=${e.finished_at} as="stamp" />`],e.expires_at&&["Expires",a`<${y} at=${e.expires_at} as="stamp" />`],["Timeout",g(e.timeout*1e3)],["Retries",`${C(e.retry.max_attempts,"attempt")}, ${e.retry.base_delay} s × ${e.retry.multiplier}ⁿ, at most ${g(e.retry.max_delay*1e3)}`],e.schedule_id&&["Schedule",a`<a href=${b(`/schedules/${e.schedule_id}`)}>${e.schedule_id}</a> <span class="quiet"><${y} at=${e.scheduled_for} /></span>`],e.run_id&&["Run",a`<a href=${b(`/runs/${e.run_id}`)}>${e.run_id}</a> <span class="quiet">step ${e.step}${e.index!==null&&` [${e.index}]`}</span>`],e.parent_id&&["Submitted by",a`<a href=${b(`/tasks/${e.parent_id}`)}>${e.parent_id}</a>`],e.unique&&["Unique",a`<code>${e.unique.key}</code> while ${e.unique.while}`],e.ordering_key&&["Ordering key",a`<code>${e.ordering_key}</code>`],e.fairness_key&&["Fairness key",a`<code>${e.fairness_key}</code>`],e.idempotency_key&&["Idempotency key",a`<code>${e.idempotency_key}</code>`],e.limits?.length&&["Limits",e.limits.map(s=>a`<${I} key=${s.name}>${s.name}${s.key&&`: ${s.key}`}</${I}> `)],n.length&&["Tags",n.map(([s,r])=>a`<a key=${s} href=${b("/tasks",{tag:`${s}:${r}`})}><${I}>${s}: ${r}</${I}></a> `)]].filter(Boolean);return a`<section class="panel" aria-label="Details"><div class="head"><h2>Details</h2></div>
    <dl class="body facts">${t.map(([s,r])=>a`<dt key=${s}>${s}</dt><dd>${r}</dd>`)}</dl></section>`}function kt({source:e}){let n=A(e,"target");return a`<section class="panel" aria-label="Target"><div class="head"><h2>Target</h2></div><div class="body">${n&&a`<${re} text=${G(n)} name="target" />`}</div></section>`}function Ot({task:e,reload:n}){let[t,s]=h(!1),{id:r,status:o}=e,i=async({title:d,text:c,action:$,danger:u,request:f,code:B,done:W})=>{await ve({title:d,action:$,danger:u,run:async()=>await f()??!0,text:a`<p>${c}</p><${X} call=${B} />`})!==void 0&&(P(W),await n())},l={retry:o==="DEAD"&&(()=>i({title:`Retry ${w(e)}?`,text:`It gets ${C(e.retry.max_attempts,"new attempt")} and starts now.`,action:"Retry",request:()=>Q(`tasks/${r}/retry`),done:"Retried",code:{method:"POST",path:`tasks/${r}/retry`,call:`client.retry("${r}")`}})),cancel:ht.includes(o)&&!(o==="RUNNING"&&e.cancel_requested)&&(()=>i({title:`Cancel ${w(e)}?`,text:o==="RUNNING"?"It is running and is asked to stop.":"It will not start.",action:"Cancel the task",danger:!0,request:()=>pe(`tasks/${r}`),done:o==="RUNNING"?"Asked to stop":"Cancelled",code:{method:"DELETE",path:`tasks/${r}`,call:`client.cancel("${r}")`}})),run:z.includes(o)&&(()=>i({title:`Run ${w(e)} now?`,text:"It becomes due now, without jitter.",action:"Run now",request:()=>Q(`tasks/${r}/run`),done:"Due now",code:{method:"POST",path:`tasks/${r}/run`,call:`client.run("${r}")`}})),change:z.includes(o)&&(()=>s(!0))};return K({...l.retry&&{r:l.retry},...l.cancel&&{c:l.cancel},...l.change&&{e:l.change}}),a`
    <div class="actions">
      ${l.retry&&a`<button class="primary" onClick=${l.retry}><${U} name="refresh" />Retry</button>`}
      ${l.run&&a`<button onClick=${l.run}><${U} name="play" />Run now</button>`}
      ${l.change&&a`<button onClick=${l.change}>Change</button>`}
      ${l.cancel&&a`<button onClick=${l.cancel}><${U} name="cross" />Cancel</button>`}
      <a class="button" href=${b("/new",{from:r,handler:""})}>Edit and submit again</a>
    </div>
    ${t&&a`<${Et} task=${e} onClose=${d=>{s(!1),d&&n()}} />`}`}function Et({task:e,onClose:n}){let[t,s]=h({run_at:se(e.due_at,"UTC"),priority:e.priority,timeout:String(e.timeout),max_attempts:String(e.retry.max_attempts)}),[r,o]=h({busy:!1,problem:null});ge(!0);let i=Ct(e,t),l=c=>({currentTarget:$})=>s({...t,[c]:$.value}),d=async c=>{c.preventDefault(),o({busy:!0,problem:null});try{await ue(`tasks/${e.id}`,i),P("Changed"),n(!0)}catch($){o({busy:!1,problem:$})}};return a`<${ee} title=${`Change ${w(e)}`} onClose=${()=>n(!1)}>
    <form class="form" onSubmit=${d}>
      <div class="fields">
        <label class="field"><span>Due (UTC)</span><input type="datetime-local" value=${t.run_at} onInput=${l("run_at")} /></label>
        <label class="field"><span>Priority</span><select value=${t.priority} onChange=${l("priority")}>${["high","medium","low"].map(c=>a`<option key=${c}>${c}</option>`)}</select></label>
        <label class="field"><span>Timeout, seconds</span><input inputmode="decimal" value=${t.timeout} onInput=${l("timeout")} /></label>
        <label class="field"><span>Attempts in all</span><input inputmode="numeric" value=${t.max_attempts} onInput=${l("max_attempts")} /></label>
      </div>
      <${J} problem=${r.problem} />
      <${X} call=${{method:"PATCH",path:`tasks/${e.id}`,body:i,call:`client.change("${e.id}", **${JSON.stringify(i)})`}} />
      <div class="dialog-actions"><button type="button" onClick=${()=>n(!1)}>Back</button><button class="primary" disabled=${r.busy||!Object.keys(i).length}>Change</button></div>
    </form></${ee}>`}function Ct(e,{run_at:n,priority:t,timeout:s,max_attempts:r}){let o={};return n&&n!==se(e.due_at,"UTC")&&(o.run_at=`${n}:00Z`),t!==e.priority&&(o.priority=t),s!==String(e.timeout)&&(o.timeout=Number(s)),r!==String(e.retry.max_attempts)&&(o.retry={max_attempts:Number(r)}),o}export{Be as Dead,Ve as New,gt as Task};
