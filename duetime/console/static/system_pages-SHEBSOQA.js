import{e as K,f as E,j as G,k as U,l as b}from"./chunk-5FZ2V467.js";import{a as W,b as B,c as y}from"./chunk-RY7CRELQ.js";import{a as J,b as X}from"./chunk-MGF4FO3Z.js";import"./chunk-HCTO7ENQ.js";import{$ as q,A as R,B as S,Ba as Q,C as D,Ea as x,Ga as j,H as g,I as N,Ia as T,Ja as Y,K as z,Ka as L,O as F,U as C,Z as f,ba as h,da as I,ga as $,i as s,ia as O,ka as k,n as _,na as w,p as H,r as l,s as p,sa as v,va as d,wa as P,xa as V,ya as Z,z as M}from"./chunk-LL4LUWVG.js";function ee(e,a,t=null){let n=new Map(e.minutes.map(u=>[Date.parse(u.minute),t?u.lanes[t]:u.count])),r=Math.floor(Date.parse(e.looked_from)/6e4)*6e4,o=Date.parse(e.looked_until),i=new Map;for(let u=r;u<o||n.has(u);u+=6e4){let[c,m]=le(u,a(u)*6e4);i.has(c)||i.set(c,{start:c,cells:Array(60).fill(null),total:0,peak:null}),ce(i.get(c),m,{at:u,count:n.get(u)??0})}return{rows:[...i.values()],most:Math.max(0,...n.values())}}function le(e,a){let t=Math.floor((e+a)/36e5)*36e5-a;return[t,(e-t)/6e4]}function ce(e,a,t){e.cells[a]=t,e.total+=t.count,t.count>(e.peak?.count??0)&&(e.peak=t)}var te=(e,a)=>e?Math.max(1,Math.ceil(5*Math.sqrt(e/a))):0;var se=["1","2","6","12","24"],ne=["","high","medium","low"],oe=600;function ue(){let e=se.includes($.value.get("hours"))?$.value.get("hours"):"6",a=ne.includes($.value.get("lane")??"")?$.value.get("lane")??"":"",t=v("forecast",{hours:e,by:"lane",namespace:w.value});return s`
    <div class="page-head"><h1>Forecast</h1>
      <nav class="chips" aria-label="How far">${se.map(n=>s`<a key=${n} href=${O({hours:n==="6"?"":n})} aria-current=${n===e?"true":void 0}>${n} h</a>`)}</nav>
      <nav class="chips" aria-label="Lane">${ne.map(n=>s`<a key=${n} href=${O({lane:n})} aria-current=${n===a?"true":void 0}>${n||"all lanes"}</a>`)}</nav>
    </div>
    <${h} read=${t}>${n=>s`<${me} forecast=${n} lane=${a} />`}</${h}>`}function me({forecast:e,lane:a}){let{rows:t,most:n}=ee(e,c=>G(c),a||null),{total:r,peak:o,complete:i}=e,u=a?r.lanes[a]:r.count;return u?s`
    <div class="stack">
      <p class="figures">
        <span><strong>${l(u)}</strong> due</span>
        ${!a&&s`<span class="quiet">${p(r.tasks,"stored task")}, ${p(r.occurrences,"coming run")} of schedules</span>`}
        ${!a&&o&&s`<span>peak <strong>${l(o.count)}</strong> at <${b} at=${o.minute} /></span>`}
      </p>
      ${!i&&s`<${q} tone="amber" icon="alert">There is more than can be counted. The counts are complete from <${b} at=${e.looked_from} /> to <${b} at=${e.looked_until} />.</${q}>`}
      <div class="panel"><div class="body scroll">
        <table class="heat">
          <caption class="unseen">Tasks due in each minute of each hour, in ${Z.value}</caption>
          <thead><tr><th scope="col">Hour</th><th scope="col" class="minutes"><span class="unseen">Minutes</span><${de} /></th><th scope="col" class="number">Due</th><th scope="col" class="number">Peak</th></tr></thead>
          <tbody>${t.map((c,m)=>s`<${pe} key=${c.start} row=${c} most=${n} before=${t[m-1]} />`)}</tbody>
        </table>
      </div></div>
      <p class="legend"><span class="quiet">tasks in a minute</span>
        <svg class="heat-key" viewBox="0 0 ${120} 12" role="img" aria-label=${`from none to ${n}`}><title>${`from none to ${n}`}</title>
          ${Array.from({length:6},(c,m)=>s`<rect key=${m} class=${`heat-${m}`} x=${m*20} width="18" height="12" rx="2" />`)}</svg>
        <span class="quiet">0 to ${l(n)}</span></p>
    </div>`:s`<div class="panel"><${f} title=${`Nothing${a?` of the lane ${a}`:""} is due until then`} command="duetime submit --handler duetime.hello --in 5m" /></div>`}var de=()=>s`<svg class="axis" viewBox="0 0 ${oe} 12" preserveAspectRatio="none" aria-hidden="true">${[0,15,30,45].map(e=>s`
  <line key=${e} x1=${e*10+.5} x2=${e*10+.5} y1="4" y2="12" />`)}</svg><span class="ticks" aria-hidden="true">${[0,15,30,45].map(e=>s`<span key=${e}>:${String(e).padStart(2,"0")}</span>`)}</span>`;function pe({row:e,most:a,before:t}){let n=U(e.start),r=e.peak?`${p(e.total,"task")}, most at ${A(e.peak)}: ${l(e.peak.count)}`:"none";return s`
    <tr>
      <th scope="row"><${b} at=${e.start} day=${!1} />${(!t||U(t.start)!==n)&&s`<span class="sub">${$e(e.start)}</span>`}</th>
      <td class="minutes"><svg viewBox="0 0 ${oe} 22" preserveAspectRatio="none" role="img" aria-label=${r}><title>${r}</title>
        ${e.cells.map((o,i)=>o&&s`<rect key=${i} class=${`heat-${te(o.count,a)}`} x=${i*10+.5} width="9" height="22" rx="1.5">${o.count>0&&s`<title>${`${A(o)}: ${p(o.count,"task")}`}</title>`}</rect>`)}
      </svg></td>
      <td class="number">${e.total?l(e.total):s`<span class="quiet">0</span>`}</td>
      <td class="number">${e.peak?s`${l(e.peak.count)} <span class="quiet">at ${A(e.peak)}</span>`:""}</td>
    </tr>`}var $e=e=>j(e).slice(0,6),A=({at:e})=>x(e).slice(0,5);var he=60,fe=[["Lane","its share of the starts while every lane has work",""],["Waiting","tasks that are due and wait for an executor","number"],["Running","attempts that run now","number"],["Oldest","how long the oldest due task has waited","number"],["In/min","messages of the last minute, also of retries and promotions","number"],["Out/min","attempts that started in the last minute","number"],["Promoted","tasks that moved to the next higher lane since the start","number"],["Held","tasks that wait for a limit or their ordering key","number"],["Due soon","tasks that are due within minutes","number"]];function ve(){let e=v("lanes"),a=v("stats",{window:"1h"});return s`
    <div class="page-head"><h1>Lanes</h1><p class="quiet">The most urgent first. While all of them have work, each starts its share.</p></div>
    <${h} read=${e}>${({items:t})=>s`
      <div class="stack">
        <div class="panel"><div class="scroll"><table class="rows lanes">
          <caption class="unseen">Lanes</caption>
          <thead><tr>${fe.map(([n,r,o])=>s`<th key=${n} scope="col" class=${o} title=${r}>${n}</th>`)}</tr></thead>
          <tbody>${t.map(n=>s`<${be} key=${n.lane} lane=${n} />`)}</tbody>
        </table></div></div>
        ${t.every(({running:n})=>n===null)&&s`<p class="quiet">Here only SQS is asked, whose numbers are approximate. CloudWatch has the others.</p>`}
        ${a.data?.source==="table"&&s`<${ge} stats=${a.data} lanes=${t.map(({lane:n})=>n)} />`}
      </div>`}</${h}>`}function be({lane:e}){let{oldest_seconds:a,weight:t}=e,n=(r,o)=>s`<td class="number" data-label=${r}>${o}</td>`;return s`
    <tr>
      <td class="main"><strong>${e.lane}</strong>
        ${t!==null&&s`<span class="weight"><${y} share=${t/100} title=${`${t} % of the starts`} /><span class="quiet">${t} %</span></span>`}</td>
      ${n("Waiting",l(e.depth))}
      ${n("Running",l(e.running))}
      ${n("Oldest",a===null?"–":s`${T(a*1e3)}${a>he&&s` <${d} tone="amber">aging</${d}>`}`)}
      ${n("In/min",l(e.in_per_minute))}
      ${n("Out/min",l(e.out_per_minute))}
      ${n("Promoted",l(e.promoted))}
      ${n("Held",l(e.waiting))}
      ${n("Due soon",l(e.delayed))}
    </tr>`}function ge({stats:e,lanes:a}){return s`<div class="grid">${a.map(t=>{let n=e.series.filter(c=>c.lane===t),{minutes:r,values:o}=ye(e,n),i=o.reduce((c,m)=>c+m,0),u=`${p(i,"attempt")} in the last hour`;return s`<div key=${t} class="panel"><div class="head"><h2>${t}</h2><span class="quiet">${u}</span></div>
      <div class="body"><${W} values=${o} title=${`${t}: ${u}, minute by minute`} unfinished />
        <${B} head=${["minute","attempts"]} rows=${r.map((c,m)=>[x(c).slice(0,5),o[m]]).filter(([,c])=>c)} /></div></div>`})}</div>`}function ye({from:e,to:a,step:t},n){let r=new Map(n.map(i=>[Date.parse(i.at),i.attempts??0])),o=[];for(let i=Date.parse(e);i<=Date.parse(a);i+=t*1e3)o.push(i);return{minutes:o,values:o.map(i=>ke(r.get(i)))}}var ke=e=>typeof e=="object"&&e?Object.values(e).reduce((a,t)=>a+t,0):e??0;var we=e=>`${e.namespace}/${e.name}`,re=[{id:"name",head:"Name",class:"main",cell:e=>s`<strong>${e.name}</strong>${e.draining&&s` <${d} tone="amber" title="no new task may name it; it goes when none is under it">draining</${d}>`}<span class="sub">${e.namespace}</span>`},{id:"rate",head:"Rate",cell:({rate:e})=>e?`${l(e.count)} per ${Te(e.period)}`:s`<span class="quiet">any</span>`},{id:"burst",head:"Burst",class:"number",cell:({rate:e})=>e?l(e.burst):""},{id:"use",head:"In use",class:"number",cell:e=>s`<${Le} limit=${e} />`},{id:"waiting",head:"Waiting",class:"number",cell:({waiting:e})=>e===null?"":l(e)},{id:"next",head:"Next slot",cell:({next_slot:e})=>e&&s`<${Ee} at=${e} />`}];function xe(){let e=$.value.get("key")??"",a=J("limits",{namespace:w.value,key:e,limit:100},we),t=F("operate"),n={id:"actions",head:s`<span class="unseen">Actions</span>`,label:"",class:"end bare",cell:o=>s`<${Me} limit=${o} reload=${a.read.reload} />`};return s`
    <div class="page-head"><h1>Limits</h1>
      <label class="key-field"><span class="quiet">of the key</span><input value=${e} placeholder="none" maxlength="128" spellcheck=${!1} onChange=${({currentTarget:o})=>k({key:o.value.trim()})} /></label>
      ${t&&s`<div class="actions"><button class="primary" onClick=${()=>ie(null,a.read.reload)}>New limit</button></div>`}
    </div>
    <${X} list=${a} caption="Limits" columns=${t?[...re,n]:re}
      empty=${s`<${f} title="No limits" command="duetime limits set stripe --rate 5/s --concurrency 3">A limit says how often tasks may start, how many may run at the same time, or both.</${f}>`} />`}function Te(e){let[a,t]=[[86400,"day"],[3600,"hour"],[60,"minute"],[1,"second"]].find(([r])=>e%r===0)??[1,"second"],n=e/a;return n===1?t:`${n} ${t}s`}function Le({limit:{concurrency:e,holding:a}}){return e===null?"":s`<span class="use">${l(a)}/${l(e)}<${y} share=${(a??0)/e} tone=${a>=e?"amber":"blue"} title=${`${a} of ${e} in use`} /></span>`}function Ee({at:e}){return Date.parse(e)<=N.value?s`<span class="quiet">now</span>`:s`<${L} at=${e} as="ms" /> <span class="quiet">${Y(e,N.value)}</span>`}function Me({limit:e,reload:a}){return s`<button class="small" onClick=${()=>ie(e,a)} aria-label=${`Change ${e.name}`}>Change</button> <button class="small" onClick=${()=>De(e,a)} aria-label=${`Delete ${e.name}`}>Delete</button>`}function ie(e,a){return I({title:e?`Change ${e.name}`:"New limit",text:s`<${Se} limit=${e} />`,action:e?"Save":"Create",run:async()=>{let t=o=>document.getElementById(`limit-${o}`).value.trim(),n=t("count")?{count:Number(t("count")),period:Number(t("period")),burst:Number(t("burst")||0)}:null,r={...n&&{rate:n},...t("concurrency")&&{concurrency:Number(t("concurrency"))}};await _(`limits/${encodeURIComponent(e?.name??t("name"))}`,r,{query:{namespace:e?.namespace??(t("namespace")||"default")}}),C(e?"Saved":"Created"),await a()}})}function Se({limit:e}){let a=(n,r,o,i={})=>s`
    <label class="field"><span>${r}</span><input id=${`limit-${n}`} defaultValue=${o??""} ...${i} /></label>`,t={type:"number",min:0};return s`
    <div class="fields">
      ${!e&&a("name","Name","",{maxlength:64,spellcheck:!1,placeholder:"stripe"})}
      ${!e&&a("namespace","Namespace","default",{maxlength:128,spellcheck:!1})}
      ${a("count","Starts",e?.rate?.count,{...t,placeholder:"any number"})}
      ${a("period","in each (seconds)",e?.rate?.period??1,{...t,step:"any"})}
      ${a("burst","and more after a pause",e?.rate?.burst??0,t)}
      ${a("concurrency","At the same time",e?.concurrency,{...t,placeholder:"any number"})}
    </div>
    <p class="quiet">What runs goes on, and a time that was granted stays granted.</p>`}function De(e,a){return I({title:`Delete ${e.name}?`,text:s`<${Ne} />`,action:"Delete",danger:!0,run:async()=>{let t=document.getElementById("limit-drain").checked;await H(`limits/${encodeURIComponent(e.name)}`,{query:{namespace:e.namespace,drain:t?"true":""}}),C(t?"Deleted, or it goes with the last task under it":"Deleted"),await a()}})}var Ne=()=>s`
  <p>A limit that is in use is not deleted. Drained, it takes no new tasks, and goes when no task is under it any more.</p>
  <label class="row"><input type="checkbox" id="limit-drain" /> drain it, if it is in use</label>`;var Ce=[["system","as the system"],["light","light"],["dark","dark"]],qe=[["comfortable","comfortable"],["compact","compact"]],Ie=[["on","on"],["off","off"]];function Oe(){let e=[["local",`local (${V})`],["UTC","UTC"],...Q().filter(t=>t!=="UTC").map(t=>[t,t])],a=t=>{R.value=t,k({tz:""},{replace:!0})};return s`
    <div class="page-head"><h1>Settings</h1></div>
    <div class="grid">
      <section class="panel"><div class="head"><h2>This browser</h2></div><div class="body form">
        <${E} label="Theme" value=${M.value} options=${Ce} onChange=${t=>M.value=t} />
        <${E} label="Density of lists" value=${D.value} options=${qe} onChange=${t=>D.value=t} />
        <${K} label="Time zone" value=${P.value} options=${e} onChange=${a} hint="Every time of the console is in this zone. z goes through local, UTC and this one." />
        <${E} label="Single keys as shortcuts" value=${S.value} options=${Ie} onChange=${t=>S.value=t} />
        <p class="quiet">They are kept in this browser only.</p>
      </div></section>
      <section class="panel"><div class="head"><h2>This Duetime</h2></div><div class="body"><${Ue} /></div></section>
    </div>`}function Ue(){let e=z.value??{},a=n=>n?.length?s`<span class="chips">${n.map(r=>s`<${d} key=${r}>${r}</${d}>`)}</span>`:"–",t=[["Address",window.location.host],["You are",e.actor??"not named"],["You may",e.rights?a(e.rights):"everything"],["Stage",e.stage??"–"],["Version",e.version??"–"],["Features",a(e.features)],["Its time",s`<${L} at=${e.time??null} as="full" />${Math.abs(g.value)>=2e3&&s` <span class="quiet">${T(Math.abs(g.value))} ${g.value>0?"ahead of":"behind"} this computer</span>`}`],["API",s`<a href="/docs">reference</a>, <a href="/v1/openapi.json">OpenAPI document</a>`]];return s`<dl class="facts">${t.map(([n,r])=>s`<dt key=${n}>${n}</dt><dd>${r}</dd>`)}</dl>`}export{ue as Forecast,ve as Lanes,xe as Limits,Oe as Settings};
