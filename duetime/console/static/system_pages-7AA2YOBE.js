import{d as ne,e as H,f as w}from"./chunk-QVWF3B4H.js";import{e as se,f as S}from"./chunk-4ESZ3CAD.js";import{a as Z,b as Y,c as E}from"./chunk-YNIGVURB.js";import{a as oe,b as re}from"./chunk-V7V6EJ3C.js";import"./chunk-XQRFPDJE.js";import{A as B,Aa as m,B as C,Ba as K,C as I,Ca as J,Da as X,Ga as ee,H as x,J as T,Ja as D,K as O,La as te,M as F,Na as N,Oa as ae,Pa as f,Q,T as V,X as U,aa as h,ca as A,ea as $,ga as R,i as a,ja as v,ka as b,la as _,n as j,na as L,p as z,qa as k,r as l,s as p,wa as g,xa as G,z as q}from"./chunk-KGWSR3YK.js";function ie(e,s,t=null){let n=new Map(e.minutes.map(c=>[Date.parse(c.minute),t?c.lanes[t]:c.count])),o=Math.floor(Date.parse(e.looked_from)/6e4)*6e4,r=Date.parse(e.looked_until),i=new Map;for(let c=o;c<r||n.has(c);c+=6e4){let[u,d]=be(c,s(c)*6e4);i.has(u)||i.set(u,{start:u,cells:Array(60).fill(null),total:0,peak:null}),ke(i.get(u),d,{at:c,count:n.get(c)??0})}return{rows:[...i.values()],most:Math.max(0,...n.values())}}function be(e,s){let t=Math.floor((e+s)/36e5)*36e5-s;return[t,(e-t)/6e4]}function ke(e,s,t){e.cells[s]=t,e.total+=t.count,t.count>(e.peak?.count??0)&&(e.peak=t)}var le=(e,s)=>e?Math.max(1,Math.ceil(5*Math.sqrt(e/s))):0;var ue=["1","2","6","12","24"],me=["","high","medium","low"],de=600;function ge(){let e=ue.includes(v.value.get("hours"))?v.value.get("hours"):"6",s=me.includes(v.value.get("lane")??"")?v.value.get("lane")??"":"",t=g("forecast",{hours:e,by:"lane",namespace:k.value});return a`
    <div class="page-head"><h1>Forecast</h1>
      <nav class="chips" aria-label="How far">${ue.map(n=>a`<a key=${n} href=${_({hours:n==="6"?"":n})} aria-current=${n===e?"true":void 0}>${n} h</a>`)}</nav>
      <nav class="chips" aria-label="Lane">${me.map(n=>a`<a key=${n} href=${_({lane:n})} aria-current=${n===s?"true":void 0}>${n||"all lanes"}</a>`)}</nav>
    </div>
    <${$} read=${t}>${n=>a`<${ye} forecast=${n} lane=${s} />`}</${$}>`}function ye({forecast:e,lane:s}){let{rows:t,most:n}=ie(e,u=>ne(u),s||null),{total:o,peak:r,complete:i}=e,c=s?o.lanes[s]:o.count;return c?a`
    <div class="stack">
      <p class="figures">
        <span><strong>${l(c)}</strong> due</span>
        ${!s&&a`<span class="quiet">${p(o.tasks,"stored task")}, ${p(o.occurrences,"coming run")} of schedules</span>`}
        ${!s&&r&&a`<span>peak <strong>${l(r.count)}</strong> at <${w} at=${r.minute} /></span>`}
      </p>
      ${!i&&a`<${A} tone="amber" icon="alert">There is more than can be counted. The counts are complete from <${w} at=${e.looked_from} /> to <${w} at=${e.looked_until} />.</${A}>`}
      <div class="panel"><div class="body scroll">
        <table class="heat">
          <caption class="unseen">Tasks due in each minute of each hour, in ${X.value}</caption>
          <thead><tr><th scope="col">Hour</th><th scope="col" class="minutes"><span class="unseen">Minutes</span><${we} /></th><th scope="col" class="number">Due</th><th scope="col" class="number">Peak</th></tr></thead>
          <tbody>${t.map((u,d)=>a`<${xe} key=${u.start} row=${u} most=${n} before=${t[d-1]} />`)}</tbody>
        </table>
      </div></div>
      <p class="legend"><span class="quiet">tasks in a minute</span>
        <svg class="heat-key" viewBox="0 0 ${120} 12" role="img" aria-label=${`from none to ${n}`}><title>${`from none to ${n}`}</title>
          ${Array.from({length:6},(u,d)=>a`<rect key=${d} class=${`heat-${d}`} x=${d*20} width="18" height="12" rx="2" />`)}</svg>
        <span class="quiet">0 to ${l(n)}</span></p>
    </div>`:a`<div class="panel"><${h} title=${`Nothing${s?` of the lane ${s}`:""} is due until then`} command="duetime submit --handler duetime.hello --in 5m" /></div>`}var we=()=>a`<svg class="axis" viewBox="0 0 ${de} 12" preserveAspectRatio="none" aria-hidden="true">${[0,15,30,45].map(e=>a`
  <line key=${e} x1=${e*10+.5} x2=${e*10+.5} y1="4" y2="12" />`)}</svg><span class="ticks" aria-hidden="true">${[0,15,30,45].map(e=>a`<span key=${e}>:${String(e).padStart(2,"0")}</span>`)}</span>`;function xe({row:e,most:s,before:t}){let n=H(e.start),o=e.peak?`${p(e.total,"task")}, most at ${W(e.peak)}: ${l(e.peak.count)}`:"none";return a`
    <tr>
      <th scope="row"><${w} at=${e.start} day=${!1} />${(!t||H(t.start)!==n)&&a`<span class="sub">${Te(e.start)}</span>`}</th>
      <td class="minutes"><svg viewBox="0 0 ${de} 22" preserveAspectRatio="none" role="img" aria-label=${o}><title>${o}</title>
        ${e.cells.map((r,i)=>r&&a`<rect key=${i} class=${`heat-${le(r.count,s)}`} x=${i*10+.5} width="9" height="22" rx="1.5">${r.count>0&&a`<title>${`${W(r)}: ${p(r.count,"task")}`}</title>`}</rect>`)}
      </svg></td>
      <td class="number">${e.total?l(e.total):a`<span class="quiet">0</span>`}</td>
      <td class="number">${e.peak?a`${l(e.peak.count)} <span class="quiet">at ${W(e.peak)}</span>`:""}</td>
    </tr>`}var Te=e=>te(e).slice(0,6),W=({at:e})=>D(e).slice(0,5);var Ee=60,Le=[["Lane","its share of the starts while every lane has work",""],["Waiting","tasks that are due and wait for an executor","number"],["Running","attempts that run now","number"],["Oldest","how long the oldest due task has waited","number"],["In/min","messages of the last minute, also of retries and promotions","number"],["Out/min","attempts that started in the last minute","number"],["Promoted","tasks that moved to the next higher lane since the start","number"],["Held","tasks that wait for a limit or their ordering key","number"],["Due soon","tasks that are due within minutes","number"]];function De(){let e=G(),s=g("stats",{window:"1h"});return a`
    <div class="page-head"><h1>Lanes</h1><p class="quiet">The most urgent first. While all of them have work, each starts its share.</p>
      <div class="actions"><a class="button small" href=${b("/workers")}>Workers</a></div></div>
    <${$} read=${e}>${({items:t})=>a`
      <div class="stack">
        <div class="panel"><div class="scroll"><table class="rows lanes">
          <caption class="unseen">Lanes</caption>
          <thead><tr>${Le.map(([n,o,r])=>a`<th key=${n} scope="col" class=${r} title=${o}>${n}</th>`)}</tr></thead>
          <tbody>${t.map(n=>a`<${Ne} key=${n.lane} lane=${n} />`)}</tbody>
        </table></div></div>
        ${t.every(({running:n})=>n===null)&&a`<p class="quiet">Here only SQS is asked, whose numbers are approximate. CloudWatch has the others.</p>`}
        ${s.data?.source==="table"&&a`<${Se} stats=${s.data} lanes=${t.map(({lane:n})=>n)} />`}
      </div>`}</${$}>`}function Ne({lane:e}){let{oldest_seconds:s,weight:t}=e,n=(o,r)=>a`<td class="number" data-label=${o}>${r}</td>`;return a`
    <tr>
      <td class="main"><strong>${e.lane}</strong>
        ${t!==null&&a`<span class="weight"><${E} share=${t/100} title=${`${t} % of the starts`} /><span class="quiet">${t} %</span></span>`}</td>
      ${n("Waiting",l(e.depth))}
      ${n("Running",l(e.running))}
      ${n("Oldest",s===null?"–":a`${N(s*1e3)}${s>Ee&&a` <${m} tone="amber">aging</${m}>`}`)}
      ${n("In/min",l(e.in_per_minute))}
      ${n("Out/min",l(e.out_per_minute))}
      ${n("Promoted",l(e.promoted))}
      ${n("Held",l(e.waiting))}
      ${n("Due soon",l(e.delayed))}
    </tr>`}function Se({stats:e,lanes:s}){return a`<div class="grid">${s.map(t=>{let n=e.series.filter(u=>u.lane===t),{minutes:o,values:r}=Me(e,n),i=r.reduce((u,d)=>u+d,0),c=`${p(i,"attempt")} in the last hour`;return a`<div key=${t} class="panel"><div class="head"><h2>${t}</h2><span class="quiet">${c}</span></div>
      <div class="body"><${Z} values=${r} title=${`${t}: ${c}, minute by minute`} unfinished />
        <${Y} head=${["minute","attempts"]} rows=${o.map((u,d)=>[D(u).slice(0,5),r[d]]).filter(([,u])=>u)} /></div></div>`})}</div>`}function Me({from:e,to:s,step:t},n){let o=new Map(n.map(i=>[Date.parse(i.at),i.attempts??0])),r=[];for(let i=Date.parse(e);i<=Date.parse(s);i+=t*1e3)r.push(i);return{minutes:r,values:r.map(i=>qe(o.get(i)))}}var qe=e=>typeof e=="object"&&e?Object.values(e).reduce((s,t)=>s+t,0):e??0;var Ce=2e3,Ie=e=>`${e.namespace}/${e.name}`,pe=[{id:"name",head:"Name",class:"main",cell:e=>a`<strong>${e.name}</strong>${e.draining&&a` <${m} tone="amber" title="no new task may name it; it goes when none is under it">draining</${m}>`}<span class="sub">${e.namespace}</span>`},{id:"rate",head:"Rate",cell:({rate:e})=>e?`${l(e.count)} per ${Ue(e.period)}`:a`<span class="quiet">any</span>`},{id:"burst",head:"Burst",class:"number",cell:({rate:e})=>e?l(e.burst):""},{id:"use",head:"In use",class:"number",cell:e=>a`<${Ae} limit=${e} />`},{id:"waiting",head:"Waiting",class:"number",cell:({waiting:e,namespace:s})=>e?a`<a href=${b("/tasks",{ns:s,status:"PENDING,ENQUEUED,RETRYING"})} title="tasks to start">${l(e)}</a>`:e===null?"":l(e)},{id:"next",head:"Next slot",cell:({next_slot:e})=>e&&a`<${Re} at=${e} />`}];function Oe(){let e=v.value.get("key")??"",s=oe("limits",{namespace:k.value,key:e,limit:100},Ie);V({topic:"tasks",filter:k.value==="*"?{}:{namespace:k.value}},s.read.reload,Ce);let t=Q("operate"),n={id:"actions",head:a`<span class="unseen">Actions</span>`,label:"",class:"end bare",cell:r=>a`<${_e} limit=${r} reload=${s.read.reload} />`};return a`
    <div class="page-head"><h1>Limits</h1>
      <label class="key-field"><span class="quiet">of the key</span><input value=${e} placeholder="none" maxlength="128" spellcheck=${!1} onChange=${({currentTarget:r})=>L({key:r.value.trim()})} /></label>
      ${t&&a`<div class="actions"><button class="primary" onClick=${()=>$e(null,s.read.reload)}>New limit</button></div>`}
    </div>
    <${re} list=${s} caption="Limits" columns=${t?[...pe,n]:pe}
      empty=${a`<${h} title="No limits" command="duetime limits set stripe --rate 5/s --concurrency 3">A limit says how often tasks may start, how many may run at the same time, or both.</${h}>`} />`}function Ue(e){let[s,t]=[[86400,"day"],[3600,"hour"],[60,"minute"],[1,"second"]].find(([o])=>e%o===0)??[1,"second"],n=e/s;return n===1?t:`${n} ${t}s`}function Ae({limit:{concurrency:e,holding:s}}){return e===null?"":a`<span class="use">${l(s)}/${l(e)}<${E} share=${(s??0)/e} tone=${s>=e?"amber":"blue"} title=${`${s} of ${e} in use`} /></span>`}function Re({at:e}){return Date.parse(e)<=O.value?a`<span class="quiet">now</span>`:a`<${f} at=${e} as="ms" /> <span class="quiet">${ae(e,O.value)}</span>`}function _e({limit:e,reload:s}){return a`<button class="small" onClick=${()=>$e(e,s)} aria-label=${`Change ${e.name}`}>Change</button> <button class="small" onClick=${()=>We(e,s)} aria-label=${`Delete ${e.name}`}>Delete</button>`}function $e(e,s){return R({title:e?`Change ${e.name}`:"New limit",text:a`<${He} limit=${e} />`,action:e?"Save":"Create",run:async()=>{let t=r=>document.getElementById(`limit-${r}`).value.trim(),n=t("count")?{count:Number(t("count")),period:Number(t("period")),burst:Number(t("burst")||0)}:null,o={...n&&{rate:n},...t("concurrency")&&{concurrency:Number(t("concurrency"))}};await j(`limits/${encodeURIComponent(e?.name??t("name"))}`,o,{query:{namespace:e?.namespace??(t("namespace")||"default")}}),U(e?"Saved":"Created"),await s()}})}function He({limit:e}){let s=(n,o,r,i={})=>a`
    <label class="field"><span>${o}</span><input id=${`limit-${n}`} defaultValue=${r??""} ...${i} /></label>`,t={type:"number",min:0};return a`
    <div class="fields">
      ${!e&&s("name","Name","",{maxlength:64,spellcheck:!1,placeholder:"stripe"})}
      ${!e&&s("namespace","Namespace","default",{maxlength:128,spellcheck:!1})}
      ${s("count","Starts",e?.rate?.count,{...t,placeholder:"any number"})}
      ${s("period","in each (seconds)",e?.rate?.period??1,{...t,step:"any"})}
      ${s("burst","and more after a pause",e?.rate?.burst??0,t)}
      ${s("concurrency","At the same time",e?.concurrency,{...t,placeholder:"any number"})}
    </div>
    <p class="quiet">${e?"What runs goes on, and a time that was granted stays granted.":"How many tasks may start in each period, how many may run at the same time, or both. A task names the limit in its field limits."}</p>`}function We(e,s){return R({title:`Delete ${e.name}?`,text:a`<${Pe} />`,action:"Delete",danger:!0,run:async()=>{let t=document.getElementById("limit-drain").checked;await z(`limits/${encodeURIComponent(e.name)}`,{query:{namespace:e.namespace,drain:t?"true":""}}),U(t?"Deleted, or it goes with the last task under it":"Deleted"),await s()}})}var Pe=()=>a`
  <p>A limit that is in use is not deleted. Drained, it takes no new tasks, and goes when no task is under it any more.</p>
  <label class="row"><input type="checkbox" id="limit-drain" /> drain it, if it is in use</label>`;var je=[["system","as the system"],["light","light"],["dark","dark"]],ze=[["comfortable","comfortable"],["compact","compact"]],Be=[["on","on"],["off","off"]];function Fe(){let e=[["local",`local (${J})`],["UTC","UTC"],...ee().filter(t=>t!=="UTC").map(t=>[t,t])],s=t=>{B.value=t,L({tz:""},{replace:!0})};return a`
    <div class="page-head"><h1>Settings</h1></div>
    <div class="grid">
      <section class="panel"><div class="head"><h2>This browser</h2></div><div class="body form">
        <${S} label="Theme" value=${q.value} options=${je} onChange=${t=>q.value=t} />
        <${S} label="Density of lists" value=${I.value} options=${ze} onChange=${t=>I.value=t} />
        <${se} label="Time zone" value=${K.value} options=${e} onChange=${s} hint="Every time of the console is in this zone. z goes through local, UTC and this one." />
        <${S} label="Single keys as shortcuts" value=${C.value} options=${Be} onChange=${t=>C.value=t} />
        <p class="quiet">They are kept in this browser only.</p>
      </div></section>
      <section class="panel"><div class="head"><h2>This Duetime</h2></div><div class="body"><${Qe} /></div></section>
    </div>`}function Qe(){let e=F.value??{},s=n=>n?.length?a`<span class="chips">${n.map(o=>a`<${m} key=${o}>${o}</${m}>`)}</span>`:"–",t=[["Address",x.value.replace(/^https?:\/\//,"")],["You are",e.actor??"not named"],["You may",e.rights?s(e.rights):"everything"],["Stage",e.stage??"–"],["Version",e.version??"–"],["Features",s(e.features)],["Its time",a`<${f} at=${e.time??null} as="full" />${Math.abs(T.value)>=2e3&&a` <span class="quiet">${N(Math.abs(T.value))} ${T.value>0?"ahead of":"behind"} this computer</span>`}`],["API",a`<a href="/docs">reference</a>, <a href="/v1/openapi.json">OpenAPI document</a>`]];return a`<dl class="facts">${t.map(([n,o])=>a`<dt key=${n}>${n}</dt><dd>${o}</dd>`)}</dl>`}var Ve=[["Worker","its name, and where it runs",""],["Takes","the pool and the lanes that it takes tasks from",""],["Handlers","what it can run","main"],["Running","attempts that it runs now, of as many as it may",""],["Since","when it was seen first",""],["Last seen","a worker that is not seen for a minute is no longer listed",""]],y=5;function Ze(){let e=g("workers");return a`
    <div class="page-head"><h1>Workers</h1><p class="quiet">Processes outside Duetime that were seen within a minute. The executors of Duetime itself are not among them.</p></div>
    <${$} read=${e} rows=${4}>${({items:s})=>s.length?a`
      <div class="panel"><div class="scroll"><table class="rows">
        <caption class="unseen">Workers</caption>
        <thead><tr>${Ve.map(([t,n,o])=>a`<th key=${t} scope="col" class=${o} title=${n}>${t}</th>`)}</tr></thead>
        <tbody>${s.map(t=>a`<${Ye} key=${t.name} worker=${t} />`)}</tbody>
      </table></div></div>`:a`<div class="panel"><${Ge} /></div>`}</${$}>`}function Ye({worker:e}){let{name:s,host:t,version:n,pool:o,lanes:r,handlers:i,running:c,concurrency:u,draining:d,since:he,seen:fe}=e,P=[t,n&&`Duetime ${n}`].filter(Boolean).join(" · ");return a`
    <tr>
      <td class="bare"><strong>${s}</strong>${d&&a` <${m} tone="amber" title="It takes no more tasks, since it is about to end">draining</${m}>`}
        ${P&&a`<span class="sub">${P}</span>`}</td>
      <td data-label="Takes">${o===null?"no pool":a`<${m} title="Pool">${o}</${m}>`}<span class="sub">${r.join(", ")}</span></td>
      <td class="main" data-label="Handlers" title=${i.join(`
`)}>${i.slice(0,y).join(", ")}${i.length>y&&a` <span class="quiet">and ${l(i.length-y)} more</span>`}</td>
      <td data-label="Running">${l(c.length)}${u!==null&&a`<span class="quiet"> of ${l(u)}</span>`}
        ${c.slice(0,y).map(({task_id:M,since:ve})=>a`<span class="sub" key=${M}><a class="mono" href=${b(`/tasks/${M}`)}>…${M.slice(-8)}</a> <${f} at=${ve} as="relative" /></span>`)}
        ${c.length>y&&a`<span class="sub">and ${p(c.length-y,"other")}</span>`}</td>
      <td data-label="Since"><${f} at=${he} /></td>
      <td data-label="Last seen"><${f} at=${fe} as="relative" /></td>
    </tr>`}function Ge(){return a`<${h} title="No workers" command=${`duetime worker --url ${x.value} --handlers handlers`}>
    <p>Tasks run in Duetime itself. A worker runs them on another machine, or in processes of its own. Start one:</p></${h}>`}export{ge as Forecast,De as Lanes,Oe as Limits,Fe as Settings,Ze as Workers};
