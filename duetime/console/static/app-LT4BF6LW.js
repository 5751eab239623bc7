import{A as Ae,Aa as Ve,B as Y,C as O,Ca as J,D as Ie,Da as j,E as Re,Ea as W,F as Le,Fa as Xe,G as le,Ga as $e,H as y,Ha as Je,I as P,Ia as et,J as ie,Ja as q,Ka as tt,L as Ue,M as ce,N as Me,Na as S,O as ue,Oa as g,P as Pe,Q as je,V as w,X as qe,Y as Ge,a as Se,aa as b,b as k,ba as E,c as C,d as _,da as V,e as Ne,ea as T,f as se,fa as de,g as G,h as _e,ha as Fe,i as a,ia as ze,j as Ee,ja as We,k as Q,l as Te,la as X,ma as I,na as x,oa as m,p as xe,pa as D,q as oe,qa as A,r as De,ra as z,s as F,sa as Be,t as L,ta as Ke,u as Ce,ua as pe,v as re,va as Ze,wa as He,x as Oe,xa as R,y as U,ya as Qe,z as M,za as Ye}from"./chunk-5ZGRRFDO.js";var fe={"1h":60,"6h":300,"24h":1200},at=5;function nt(){let e=fe[x.value.get("window")]?x.value.get("window"):"1h",t=pe.value==="*"?void 0:pe.value,n=R("stats",{window:e,step:fe[e]}),r=R("slo"),s=R("stuck",{limit:5}),o=R("lanes"),l=R("dead-letters/groups",{namespace:t}),c=R("schedules",{namespace:t,limit:100});return a`
    <div class="page-head"><h1>Overview</h1><nav class="chips actions" aria-label="Window">
      ${Object.keys(fe).map(i=>a`<a key=${i} href=${D({window:i==="1h"?"":i})} aria-current=${i===e?"true":void 0}>${i}</a>`)}</nav></div>
    <div class="stack">
      <div class="grid answers">
        <${vt} slo=${r} stats=${n} />
        <${yt} stuck=${s} stats=${n} />
        <${wt} groups=${l} />
      </div>
      <${Nt} stats=${n} window=${e} />
      <div class="grid halves">
        <${_t} groups=${l} />
        <${Et} schedules=${c} />
      </div>
      <${Tt} lanes=${o} />
    </div>`}function h({tone:e,icon:t,title:n,children:r,href:s}){let o=a`<div class="answer-head"><${w} name=${t} /><strong>${n}</strong></div><div class="answer-facts">${r}</div>`;return s?a`<a class=${`panel answer tone-${e}`} href=${s}>${o}</a>`:a`<section class=${`panel answer tone-${e}`}>${o}</section>`}var B=e=>e.problem?.status===404&&e.data===void 0;function vt({slo:e,stats:t}){let n=t.data?.total?.drift_ms,r=n&&a`<span>p50 <b>${S(n.p50)}</b></span><span>p99 <b>${S(n.p99)}</b></span>`;if(t.data?.source==="emf")return a`<${h} tone="grey" icon="external" title="Figures are in CloudWatch">${t.data.url&&a`<a href=${t.data.url} target="_blank" rel="noreferrer">Open the dashboard</a>`}</${h}>`;let s=e.data?.lanes?.filter(({total:f})=>f>0)??[];if(!e.data&&!B(e))return a`<${h} tone="grey" icon="clock" title=${e.problem?"Not known":"…"}>${e.problem?.message}</${h}>`;if(!s.length)return a`<${h} tone="grey" icon="clock" title=${n?"Started on time":"Nothing has started yet"}>${r}</${h}>`;let o=s.reduce((f,v)=>(f.budget_left??1)<=(v.budget_left??1)?f:v),l=Math.max(...s.map(f=>f.burn?.["1h"]??0)),c=s.reduce((f,v)=>f+v.total,0),i=s.reduce((f,v)=>f+v.good,0),p=o.budget_left!==null&&o.budget_left<0,[d,u,$]=p?["red","alert","Late"]:l>1?["amber","alert","Getting late"]:["green","check","On time"];return a`<${h} tone=${d} icon=${u} title=${$} href=${m("/lanes")}>
    <span><b>${ie(i/c)}</b> started within ${S(o.objective.drift_ms)}</span>${r}
    <span>budget left <b>${ie(Math.max(o.budget_left??1,0))}</b></span><span>burn <b>${l.toFixed(1)}×</b></span></${h}>`}var kt={not_claimed:"not claimed by the scanner",not_taken:"in its lane, not taken",no_worker:"no free worker",lease_run_out:"its executor died",held_back:"held back after an outage",queued_behind:"behind another task of its key",limit:"waits for a limit",set_aside:"set aside: unreadable"};function yt({stuck:e,stats:t}){let n=t.data&&a`
    ${ee(t.data.tick_age_seconds)&&a`<span>tick <b>${ee(t.data.tick_age_seconds)}</b> ago</span>`}
    ${ee(t.data.relay_age_seconds)&&a`<span>relay <b>${ee(t.data.relay_age_seconds)}</b> behind</span>`}`;if(B(e))return a`<${h} tone="grey" icon="help" title="Not known here">This server does not say what is stuck.</${h}>`;if(!e.data)return a`<${h} tone="grey" icon="clock" title=${e.problem?"Not known":"…"}>${e.problem?.message}</${h}>`;let{items:r,complete:s}=e.data;return r.length?a`<${h} tone="amber" icon="hourglass" title=${`${r.length}${r.length>=5||!s?" or more":""} stuck`}>
    <ul class="stuck">${r.slice(0,3).map(o=>a`<li key=${o.id}><a href=${m(`/tasks/${o.id}`)}>${o.name||o.target}</a> ${kt[o.why]??o.why} <span class="quiet"><${g} at=${o.since??o.due_at} as="relative" /></span></li>`)}</ul></${h}>`:a`<${h} tone="green" icon="check" title="Nothing stuck">${n}${s===!1&&a`<span>as far as was read</span>`}</${h}>`}var ee=e=>e==null?null:S(Math.round(e*1e3));function wt({groups:e}){if(B(e))return a`<${h} tone="grey" icon="help" title="Dead letters" href=${m("/dead")}>Open the list</${h}>`;if(!e.data)return a`<${h} tone="grey" icon="clock" title=${e.problem?"Not known":"…"}>${e.problem?.message}</${h}>`;let{items:t,complete:n,looked_at:r}=e.data,s=t.reduce((l,c)=>l+c.count,0);if(!s)return a`<${h} tone="green" icon="check" title="None dead" href=${m("/dead")}>No task is out of attempts.</${h}>`;let o=t.map(l=>l.first).sort()[0];return a`<${h} tone="red" icon="cross" title=${`${y(s)}${n?"":"+"} dead`} href=${m("/dead")}>
    <span>${P(t.length,"cause")}</span><span>since <b><${g} at=${o} /></b></span>${!n&&a`<span>the latest ${y(r)} were read</span>`}</${h}>`}function St({series:e,from:t,to:n,step:r}){let s=new Map,o=r*1e3;for(let l=Math.floor(q(t)/o)*o;l<=q(n);l+=o)s.set(l,{at:l,started:0,failed:0,p99:null});for(let l of e){let c=s.get(Math.floor(q(l.at)/o)*o);if(c){for(let[i,p]of Object.entries(l.attempts))c.started+=p,["failed","timed_out","lease_expired"].includes(i)&&(c.failed+=p);l.drift_ms&&(c.p99=Math.max(c.p99??0,l.drift_ms.p99))}}return[...s.values()].sort((l,c)=>l.at-c.at)}function Nt({stats:e,window:t}){return B(e)||e.data?.source==="emf"?null:a`<section class="panel" aria-label=${`The last ${t}`}><${T} read=${e} rows=${2}>${n=>{let r=St(n),s=i=>r.reduce((p,d)=>p+d[i],0),o=(i,p,d,u)=>a`
      <figure class="chart"><figcaption><span>${p}</span><b>${u}</b></figcaption>
        <${ze} values=${r.map($=>$[i])} title=${`${p}, ${t}: ${u}`} tone=${d} unfinished /></figure>`,l=n.total?.drift_ms,c=n.step===60?"per minute":`per ${n.step/60} minutes`;return a`<div class="body charts">
        ${o("started",`Attempts ${c}`,"blue",y(s("started")))}
        ${o("p99","Drift p99","violet",l?S(l.p99):"–")}
        ${o("failed",`Failed attempts ${c}`,"red",y(s("failed")))}
      </div>
      <div class="charts-foot"><span class="quiet"><${g} at=${n.from} as="clock" /> – <${g} at=${n.to} as="clock" />; the last bar is not over yet.</span>
      <${We} head=${["From","Attempts","Failed","Drift p99"]} rows=${r.filter(({started:i})=>i).map(i=>[tt(i.at),y(i.started),y(i.failed),S(i.p99)])} /></div>`}}</${T}></section>`}function _t({groups:e}){let[t,n]=k(null);return a`
    <section class="panel" aria-label="Failing now"><div class="head"><h2>Failing now</h2><a href=${m("/dead")}>All causes</a></div>
      ${B(e)?a`<${b} title="This server does not group dead letters"><a href=${m("/tasks",{status:"DEAD"})}>Dead tasks</a></${b}>`:a`<${T} read=${e}>${({items:r})=>r.length?a`<div class="scroll"><table class="rows plain"><tbody>${r.slice(0,5).map(s=>a`
          <tr key=${s.fingerprint}>
            <td class="main bare"><a href=${Qe(s)}>${s.error_type}</a> <span class="target">${s.target}</span><span class="sub">${s.message}</span></td>
            <td class="number bare"><b>${y(s.count)}</b></td>
            <td class="end bare">${O("operate")&&a`<button class="small" onClick=${()=>n({action:"redrive",body:Ye(s),what:Ve(s)})}>Redrive ${y(s.count)} …</button>`}</td>
          </tr>`)}</tbody></table></div>`:a`<${b} title="Nothing fails"/>`}</${T}>`}
      ${t&&a`<${X} ...${t} onClose=${r=>{n(null),r&&e.reload()}} />`}
    </section>`}function Et({schedules:e}){return a`
    <section class="panel" aria-label="Next"><div class="head"><h2>Next</h2><a href=${m("/schedules")}>All schedules</a></div>
      <${T} read=${e}>${({items:t})=>{let n=t.filter(({status:o,next_fire_at:l})=>o==="active"&&l).sort((o,l)=>o.next_fire_at<l.next_fire_at?-1:1),r=t.filter(({status:o})=>o==="paused"),s=[...n.slice(0,at),...r.slice(0,Math.max(at-n.length,1))];return s.length?a`<div class="scroll"><table class="rows plain"><tbody>${s.map(o=>a`
          <tr key=${o.id}>
            <td class="main bare"><a href=${m(`/schedules/${o.id}`)}>${o.name||o.id}</a>${o.status==="paused"&&o.note&&a`<span class="sub">${o.note}</span>`}</td>
            <td class="end bare">${o.status==="paused"?a`<${J} status="paused" />`:a`<${g} at=${o.next_fire_at} as="relative" />`}</td>
            <td class="end bare quiet">${o.status!=="paused"&&a`<${g} at=${o.next_fire_at} />`}</td>
          </tr>`)}</tbody></table></div>`:a`<${b} title="No schedules"><a href=${m("/schedules/new")}>Make one</a></${b}>`}}</${T}>
    </section>`}function Tt({lanes:e}){return a`<section class="panel" aria-label="Lanes"><${T} read=${e} rows=${1}>${({items:t})=>a`
    <div class="lane-strip">${t.map(n=>a`
      <a key=${n.lane} href=${m("/lanes")}><span class="lane-name">${n.lane}</span>
        <span><b>${y(n.depth)}</b> waiting</span><span><b>${y(n.running??n.in_flight)}</b> running</span>
        ${n.oldest_seconds!==null&&a`<span>oldest <b>${S(Math.round(n.oldest_seconds*1e3))}</b></span>`}
        ${n.promoted?a`<${j} tone="amber">${y(n.promoted)} promoted</${j}>`:null}</a>`)}</div>`}</${T}></section>`}var K=200;function st(e){let t=G([]),n=new Map;function r(o){let l=e(o),c=n.get(l);return c?c.value=o:n.set(l,G(o)),l}function s(o){let l=new Set(o);for(let i of n.keys())l.has(i)||n.delete(i);o.length===t.peek().length&&o.every((i,p)=>i===t.peek()[p])||(t.value=o)}return{keys:t,has:o=>n.has(o),row:o=>n.get(o),list:()=>t.peek().map(o=>n.get(o).peek()),replace:o=>se(()=>s([...new Set(o.map(r))])),append:o=>se(()=>s([...new Set([...t.peek(),...o.map(r)])].slice(-K))),change:(o,l)=>n.get(o)&&(n.get(o).value={...n.get(o).peek(),...l})}}function ot({rows:e,columns:t,href:n,caption:r,selected:s}){let o=_(null),l=_(null),c=u=>{let $=[...o.current.rows],f=$.indexOf(document.activeElement.closest("tr"));$[Math.max(0,Math.min($.length-1,f+u))]?.focus()},i=()=>document.activeElement.closest("tr")?.dataset.key,p=(u,$=!1)=>{if(!u)return;let f=new Set(s.peek());if($&&l.current)for(let v of xt(e.keys.peek(),l.current,u))f.add(v);else f.delete(u)||f.add(u);l.current=u,s.value=f};L({j:()=>c(1),k:()=>c(-1),...s&&{x:()=>p(i()),X:()=>p(i(),!0)}});let d=s&&e.keys.value.length>0&&e.keys.value.every(u=>s.value.has(u));return a`
    <div class="scroll"><table class="rows">
      <caption class="unseen">${r}</caption>
      <thead><tr>
        ${s&&a`<th class="check"><input type="checkbox" aria-label="Select all rows" checked=${d}
          onChange=${()=>s.value=new Set(d?[]:e.keys.peek())} /></th>`}
        ${t.map(u=>a`<th key=${u.id} scope="col" class=${u.class}>${u.head}</th>`)}
      </tr></thead>
      <tbody ref=${o}>
        ${e.keys.value.map(u=>a`<${Dt} key=${u} name=${u} row=${e.row(u)} ...${{columns:t,href:n,selected:s,toggle:p}} />`)}
      </tbody>
    </table></div>`}function xt(e,t,n){let[r,s]=[e.indexOf(t),e.indexOf(n)].sort((o,l)=>o-l);return e.slice(Math.max(r,0),s+1)}function Dt({name:e,row:t,columns:n,href:r,selected:s,toggle:o}){let l=t.value,c=d=>{!r||d.target.closest("a, button, input, label")||window.getSelection().toString()||A(r(l))},i=d=>d.key==="Enter"&&d.target===d.currentTarget&&r&&A(r(l)),p=s?.value.has(e);return a`
    <tr data-key=${e} tabindex="-1" class=${`${r?"opens":""} ${p?"selected":""}`} onClick=${c} onKeyDown=${i}>
      ${s&&a`<td class="check"><input type="checkbox" aria-label=${`Select ${e}`} checked=${p}
        onClick=${d=>o(e,d.shiftKey)} /></td>`}
      ${n.map(d=>a`<td key=${d.id} class=${d.class} data-label=${d.label??d.head}>${d.cell(l)}</td>`)}
    </tr>`}var ae=["PENDING","ENQUEUED","RUNNING","RETRYING","WAITING","SUCCEEDED","DEAD","CANCELLED","EXPIRED"],me={status:"one or more statuses: status:DEAD,RETRYING",handler:"a Python handler: handler:shop.restock",target:"a type of target: target:http",tag:"a tag: tag:team, or tag.team:growth",ns:"a namespace, or * for all",schedule:"runs of a schedule, by its id",parent:"submitted by the handler of this task",since:"created since: since:24h, or since:2026-11-17T09:00Z",until:"created before",id:"opens the task"},rt=/^[0-9A-HJKMNP-TV-Z]{26}$/i;function Z(e){let t=it(),n=[],r=[],s=null;for(let o of e.match(/(?:[^\s"]|"[^"]*"|")+/g)??[]){let[,l,c]=/^([a-z]+(?:\.[^:]+)?):(.*)$/i.exec(o)??[],i=c?.replace(/^"(.*)"$/,"$1");l?/^tag\./.test(l)?t.tag.push(i?`${l.slice(4)}:${i}`:l.slice(4)):l==="tag"&&i?t.tag.push(i):l==="status"&&Ct(i)?t.status=te(i):l==="id"&&rt.test(i)?s=i.toUpperCase():["handler","target","ns","schedule","parent","since","until"].includes(l)&&i?t[l]=i:n.push(o):r.push(o)}return r.length===1&&rt.test(r[0])?s=r[0].toUpperCase():t.q=r.join(" "),{view:t,unknown:n,open:s}}var it=()=>({q:"",status:[],handler:"",target:"",tag:[],schedule:"",parent:"",since:"",until:"",ns:""}),te=e=>e.toUpperCase().split(",").filter(Boolean),Ct=e=>te(e).length>0&&te(e).every(t=>ae.includes(t));function ct(e){let t=it();for(let n of["q","handler","target","schedule","parent","since","until","ns"])t[n]=e.get(n)??"";return t.status=te(e.getAll("status").join(",")).filter(n=>ae.includes(n)),t.tag=e.getAll("tag"),t}var he=e=>({...e,status:e.status.join(",")});function H(e){let t=[];e.status.length&&t.push(`status:${e.status.join(",")}`);for(let n of["handler","target","schedule","parent","since","until"])e[n]&&t.push(`${n}:${e[n]}`);for(let n of e.tag)t.push(n.includes(":")?`tag.${n.replace(":",Ot(n))}`:`tag:${n}`);return e.q&&t.push(e.q),t.join(" ")}var Ot=e=>/\s/.test(e)?':"':":";function be(e,t="*"){return At({namespace:e.ns||t,status:e.status,name:e.q,handler:e.handler,target:e.target,tag:e.tag,schedule_id:e.schedule,parent_id:e.parent,created_since:lt(e.since),created_before:lt(e.until)})}var At=e=>Object.fromEntries(Object.entries(e).filter(([,t])=>t&&t.length!==0)),It={s:1,m:60,h:3600,d:86400,w:604800};function lt(e){let[,t,n]=/^(\d+)([smhdw])$/.exec(e)??[];if(!t)return e;let r=Oe()-t*It[n]*1e3;return new Date(Math.floor(r/6e4)*6e4).toISOString()}var ut=100,Rt=[["All",[]],["To start",["PENDING","ENQUEUED"]],["Running",["RUNNING"]],["Retrying",["RETRYING"]],["Waiting",["WAITING"]],["Succeeded",["SUCCEEDED"]],["Dead",["DEAD"]],["Cancelled",["CANCELLED"]],["Expired",["EXPIRED"]]];function dt(){let e=ct(x.value),t=x.value.get("order")==="soonest",n=Wt(be(e),t),r=_e(new Set),[s,o]=k(null);Le(r.value.size>0);let l=c=>{o(null),r.value=new Set,c&&n.read()};return a`
    <div class="page-head"><h1>Tasks</h1><${Mt} soonest=${t} /></div>
    <${Pt} view=${e} />
    <nav class="chips" aria-label="Status">${Rt.map(([c,i])=>a`
      <a key=${c} href=${D({status:i.join(",")})} aria-current=${String(i)===String(e.status)?"true":void 0}>${c}</a>`)}
    </nav>
    <div class="panel tasks" onPointerEnter=${()=>n.hovered.current=!0} onPointerLeave=${()=>n.hovered.current=!1}>
      ${O("operate")&&a`<${jt} view=${e} selected=${r} rows=${n.rows} onAct=${o} />`}
      ${n.news.value>0&&a`<button class="news" onClick=${n.read}><${w} name="refresh" />${P(n.news.value,"new task")}</button>`}
      <${Lt} list=${n} view=${e} selected=${O("operate")?r:void 0} />
    </div>
    ${s&&a`<${X} ...${s} onClose=${l} />`}`}function Lt({list:e,view:t,selected:n}){return e.rows.keys.value.length?a`
    ${e.problem.value&&a`<div class="body"><${E} problem=${e.problem.value} retry=${e.read} /></div>`}
    <${ot} rows=${e.rows} columns=${Ut} href=${r=>m(`/tasks/${r.id}`)} caption="Tasks" selected=${n} />
    <${Ft} list=${e} />`:e.problem.value?a`<div class="body"><${E} problem=${e.problem.value} retry=${e.read} /></div>`:e.loading.value?a`<${V} rows=${6} />`:a`<${zt} view=${t} list=${e} />`}var Ut=[{id:"status",head:"Status",class:"bare",cell:e=>a`<${J} status=${e.status} />${e.cancel_requested&&e.status==="RUNNING"&&a` <${j} tone="amber">stopping</${j}>`}`},{id:"name",head:"Name and target",class:"main",cell:e=>a`
      <a href=${m(`/tasks/${e.id}`)}>${ce(e)}</a>${e.name&&a` <span class="target">${Ue(e.target)}</span>`}
      ${e.error&&e.status!=="SUCCEEDED"&&a`<span class="sub tone-red error-text">${e.error.type}: ${e.error.message}</span>`}
      ${e.reason&&a`<span class="sub">${Me[e.reason]??e.reason}</span>`}`},{id:"due",head:"Due",cell:e=>a`<${g} at=${e.due_at} />`},{id:"started",head:"Started",cell:e=>e.started_at&&!["RETRYING","PENDING"].includes(e.status)?a`<${g} at=${e.started_at} />`:["PENDING","ENQUEUED","RETRYING"].includes(e.status)?a`<span class="quiet"><${g} at=${e.due_at} as="relative" /></span>`:"–"},{id:"drift",head:"Drift",class:"number",cell:e=>S(e.drift_ms)},{id:"try",head:"Attempt",class:"number",cell:e=>`${e.attempt}/${e.max_attempts}`},{id:"lane",head:"Lane",cell:e=>e.lane},{id:"namespace",head:"Namespace",cell:e=>a`<a class="quiet" href=${D({ns:e.namespace})}>${e.namespace}</a>`}];function Mt({soonest:e}){return a`<nav class="chips actions" aria-label="Order">
    <a href=${D({order:""})} aria-current=${e?void 0:"true"}>Newest</a>
    <a href=${D({order:"soonest",status:""})} aria-current=${e?"true":void 0}>Due next</a></nav>`}function Pt({view:e}){let t=H(e),[n,r]=k(t),s=_(null),o=Z(n);C(()=>{H(Z(n).view)!==t&&r(t)},[t]),L({"/":()=>s.current.focus()});let l=(i,p)=>{r(i);let{view:d}=Z(i);z({...he(d),ns:d.ns||x.value.get("ns")},p)},c=i=>{i.key==="Enter"&&(o.open?A(m(`/tasks/${o.open}`)):l(n))};return a`
    <div class="filter">
      <${w} name="search" />
      <input ref=${s} type="search" aria-label="Filter tasks" aria-describedby="filter-hints" aria-invalid=${o.unknown.length>0} value=${n} spellcheck=${!1} autocomplete="off" autocapitalize="off"
        placeholder="Filter: status:DEAD handler:shop.restock tag.team:growth since:24h, or an id" onInput=${({currentTarget:i})=>l(i.value,{replace:!0})} onKeyDown=${c} />
      <kbd aria-hidden="true">/</kbd>
      <div id="filter-hints" class="hints">
        ${o.unknown.map(i=>a`<p key=${i} class="tone-red"><code>${i}</code> means nothing here. Words: ${Object.keys(me).join(", ")}. Statuses: ${ae.join(", ")}</p>`)}
        ${!n&&a`<dl class="words">${Object.entries(me).map(([i,p])=>a`<dt><button type="button" class="link" onMouseDown=${d=>d.preventDefault()} onClick=${()=>{r(`${i}:`),s.current.focus()}}>${i}:</button></dt><dd>${p}</dd>`)}</dl>`}
      </div>
    </div>`}function jt({view:e,selected:t,rows:n,onAct:r}){let s=[...t.value];if(s.length)return a`<div class="bulk"><strong>${s.length} selected</strong>${Gt(s,n,r)}
    <button class="plain" onClick=${()=>t.value=new Set}>Clear</button></div>`;let o=be(e);return je(o)?a`<div class="bulk"><span class="quiet">All that match</span>
    ${["retry","cancel","shift"].map(l=>{let c=Pe(l,o);return c&&a`<button key=${l} class="small" onClick=${()=>r({action:l,body:c,what:qt(e)})}>${ue[l].verb} …</button>`})}</div>`:null}var qt=e=>a`<p>Every task that matches</p><p><code>${[e.ns&&`ns:${e.ns}`,H(e)].filter(Boolean).join(" ")}</code></p>`;function Gt(e,t,n){let r=e.map(c=>t.row(c)?.value).filter(Boolean),s=r.filter(({status:c})=>c==="DEAD"),o=r.filter(({status:c})=>ue.cancel.statuses.includes(c)),l=c=>a`<ul>${c.slice(0,5).map(i=>a`<li key=${i.id}>${ce(i)}</li>`)}${c.length>5&&a`<li class="quiet">and ${c.length-5} more</li>`}</ul>`;return a`
    ${s.length>0&&a`<button class="small" onClick=${()=>n({action:"redrive",body:{ids:s.map(({id:c})=>c)},what:l(s)})}>Retry ${s.length} …</button>`}
    ${o.length>0&&a`<button class="small" onClick=${()=>n({action:"cancelEach",body:{ids:o.map(({id:c})=>c)},what:l(o)})}>Cancel ${o.length} …</button>`}`}function Ft({list:e}){let t=e.rows.keys.value.length;return a`<div class="foot quiet">
    <span>${P(t,"task")} shown${e.left.value&&a`, the first ones left: at most ${K} are shown`}${e.lookedUntil.value&&a`, due until <${g} at=${e.lookedUntil.value} />`}</span>
    ${e.cursor.value?a`<button class="small" disabled=${e.loading.value} onClick=${e.more}>Show more</button>`:a`<span>End of the list</span>`}
  </div>`}function zt({view:e,list:t}){let n=H(e);return t.cursor.value?a`<${b} title="No match so far"><p>The newest tasks were read.</p><p><button onClick=${t.more}>Search further</button></p></${b}>`:n||e.ns?a`<${b} title="No task matches"><p class="row">${n&&a`<a class="button small" href=${D(he({...Z("").view,ns:e.ns}))}>Remove the filter</a>`}
      ${e.ns&&a`<a class="button small" href=${D({ns:""})}>All namespaces</a>`}</p></${b}>`:a`<${b} title="No tasks yet" command="duetime submit --handler duetime.hello --in 5"><p>Submit one in a terminal, or <a href=${m("/new")}>here</a>.</p></${b}>`}function Wt(e,t){let n=JSON.stringify([e,t]),r=_(!1),s=Ne(()=>Zt(e,t,r),[n]);C(()=>{s.read();let l=Ie(s.reread);return()=>{l(),s.end()}},[s]),Re({topic:"tasks",filter:Bt(e)},({items:l})=>l&&s.apply(l));let o=_(s);return(s.loaded.value||s.problem.value)&&(o.current=s),o.current}function Bt({namespace:e,status:t,handler:n,schedule_id:r}){return pt({namespace:e==="*"?void 0:e,status:t,handler:n,schedule_id:r})}var pt=e=>Object.fromEntries(Object.entries(e).filter(([,t])=>t!==void 0)),Kt=1e3;function Zt(e,t,n){let r=st(u=>u.id),s={rows:r,hovered:n,...Ht({loading:!0,loaded:!1,problem:null,cursor:null,news:0,left:!1,lookedUntil:null})},o=0,l=[null],c=null,i=u=>Te("tasks",{...e,fields:"summary",limit:ut,order:t?"soonest":void 0,cursor:u});async function p(u,$,f){let v=o+=1;s.loading.value=!0;try{let N=await i(u),ye=[...N.items];for(let we=1;we<$&&N.next_cursor;we+=1)N=await i(N.next_cursor),ye.push(...N.items);if(v!==o)return;f(ye),s.loaded.value=!0,s.cursor.value=N.next_cursor,s.lookedUntil.value=N.looked_until??null,s.problem.value=null,He(r.list())}catch(N){v===o&&(s.problem.value=N)}v===o&&(s.loading.value=!1)}s.read=()=>(l=[null],p(null,1,u=>{r.replace(u),s.news.value=0,s.left.value=!1})),s.reread=()=>p(l[0],l.length,u=>{let $=u.filter(f=>!r.has(f.id));if(!n.current||!r.keys.peek().length){r.replace(u),s.news.value=0;return}r.replace(u.filter(f=>r.has(f.id))),s.news.value=l[0]===null?$.length:0,$.length&&qe(P($.length,"new task"))}),s.more=async()=>{let u=s.cursor.peek();await p(u,1,$=>{l=[...l,u].slice(-K/ut),r.keys.peek().length+$.length>K&&(s.left.value=!0),r.append($)})},s.apply=u=>{for(let $ of u){let f=r.row($.task_id)?.peek();f&&Qt($,f)&&r.change($.task_id,Yt($))}u.some($=>!r.has($.task_id)||$.error_type)&&(c??=setTimeout(d,Kt))};let d=()=>{c=null,Ae.peek()||s.reread()};return s.end=()=>{clearTimeout(c),o+=1},s}function Ht(e){return Object.fromEntries(Object.entries(e).map(([t,n])=>[t,G(n)]))}var Qt=(e,t)=>e.updated_at>t.updated_at||e.updated_at===t.updated_at&&e.attempt>=t.attempt;function Yt({status:e,attempt:t,updated_at:n,due_at:r,drift_ms:s}){let o=pt({status:e,attempt:t,updated_at:n,due_at:r??void 0,drift_ms:s??void 0}),l=r&&typeof s=="number"?{started_at:q(r)+s}:{};return{...o,...l}}function $t(e,t){return function(r){let[s,o]=k({});return C(()=>{e().then(l=>o({page:l[t]}),l=>o({problem:l}))},[]),s.problem?a`<${E} problem=${{title:"The page could not be loaded",detail:s.problem.message}} retry=${()=>window.location.reload()} />`:s.page?a`<${s.page} ...${r} />`:a`<${V} />`}}var ge=e=>$t(()=>import("./task_pages-UM4FWCBF.js"),e),ft=[{path:"/",title:"Overview",page:nt},{path:"/tasks",title:"Tasks",page:dt},{path:"/tasks/:id",title:"Task",page:ge("Task")},{path:"/dead",title:"Dead letters",page:ge("Dead")},{path:"/new",title:"New task",page:ge("New")}],ve=[["/","Overview","o"],["/tasks","Tasks","t"],["/schedules","Schedules","s"],["/runs","Runs","r"],["/dead","Dead","d"],["/lanes","Lanes","l"],["/limits","Limits",null],["/forecast","Forecast",null]];function ke({children:e}){let t=Object.fromEntries(ve.filter(([,,n])=>n).map(([n,,r])=>[`g ${r}`,()=>A(m(n))]));return L({...t,n:()=>O("operate")&&A(m("/new")),p:()=>M.value=!M.value,z:ta,"?":()=>F.value=!0,Escape:()=>I.value!=="/"&&window.history.back()}),a`
    <a class="skip" href="#main" onClick=${n=>{n.preventDefault(),document.getElementById("main").focus()}}>Skip to content</a>
    <${Vt} />
    ${Math.abs(re.value)>2e3&&a`<p class="banner">This computer's clock differs from the server's by ${Math.round(Math.abs(re.value)/1e3)} s. Times are the server's.</p>`}
    <main id="main" tabindex="-1">${e}</main>
    <${Fe} />
    ${F.value&&a`<${oa} />`}
    <${Ge} />`}function Vt(){let e=_(null),t=()=>e.current.removeAttribute("data-open");return a`
    <header ref=${e}>
      <a class="brand" href=${m("/")}><svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="8" /><path d="M10 5.500V10l3 2" /></svg>Duetime${U.value?.stage&&a`<span class="stage">${U.value.stage}</span>`}</a>
      <button class="plain menu" aria-label="Menu" onClick=${()=>e.current.toggleAttribute("data-open")}><${w} name="menu" /></button>
      <nav aria-label="Pages" onClick=${t}>
        ${ve.map(([n,r])=>a`<a key=${n} href=${m(n)} aria-current=${Xt(n)?"page":void 0}>${r}</a>`)}
      </nav>
      <div class="controls">
        ${O("operate")&&a`<a class="button primary" href=${m("/new")}><${w} name="plus" />New task</a>`}
        <${Jt} />
        <${aa} />
        <button class="plain" aria-label="Light or dark" title="Light or dark" onClick=${De}><${w} name="moon" /></button>
        <a class="plain" href=${m("/settings")} aria-label="Settings" title="Settings"><${w} name="settings" /></a>
        <${sa} />
      </div>
    </header>`}var Xt=e=>e==="/"?I.value==="/":I.value===e||I.value.startsWith(`${e}/`);function Jt(){let e=({currentTarget:t})=>z({ns:t.value.trim()});return a`
    <label class="field-in"><span class="unseen">Namespace</span>
      <input class="namespace" list="namespaces" value=${x.value.get("ns")??""} placeholder="All namespaces" spellcheck=${!1} autocapitalize="off" autocomplete="off" onChange=${e} />
    </label>
    <datalist id="namespaces">${[...Ze.value].sort().map(t=>a`<option key=${t} value=${t} />`)}</datalist>`}var ea=()=>[...new Set(["local","UTC",oe.value,W.value])];function ta(){let e=ea();mt(e[(e.indexOf(W.value)+1)%e.length])}function mt(e){Je(e)&&(oe.value=e,z({tz:e==="local"?"":e},{replace:!0}))}function aa(){let e=[...new Set([...et(),W.value])].filter(t=>t!=="local");return a`
    <label class="zone" title=${`Times are in ${$e.value}`}><span class="unseen">Time zone</span><${w} name="globe" />
      <select value=${W.value} onChange=${({currentTarget:t})=>mt(t.value)}>
        <option value="local">Local (${Xe})</option>
        ${e.map(t=>a`<option key=${t} value=${t}>${t}</option>`)}
      </select><span class="zone-name" aria-hidden="true">${$e}</span>
    </label>`}var na={live:["Live","Changes are shown as they happen. Click to pause."],polling:["Polling","Read again every 10 seconds. Click to pause."],paused:["Paused","Nothing is fetched. Click to go on."],lost:["No connection","The server does not answer. It is asked again every 10 seconds."]};function sa(){let[e,t]=na[Y.value];return a`
    <button class=${`live is-${Y.value}`} title=${t} aria-pressed=${M.value} onClick=${()=>M.value=!M.value}>
      <span class="live-dot"></span>${e}${Y.value==="lost"&&a`<span class="quiet"> as of <${g} at=${Ee.value.at} as="clock" /></span>`}
    </button>`}function oa(){return a`<${de} title="Keyboard" onClose=${()=>F.value=!1}>
    <dl class="keys">${Ce.map(([e,t])=>a`<dt>${e.split(" ").map(n=>n==="then"?" then ":a`<kbd>${n}</kbd>`)}</dt><dd>${t}</dd>`)}</dl>
    <p class="quiet">Single keys can be turned off in the settings.</p>
    <div class="dialog-actions"><button class="primary" onClick=${()=>F.value=!1}>Close</button></div></${de}>`}var ht=e=>xe("POST","../auth",{body:{token:e}});async function bt(){let e=new URLSearchParams(window.location.hash.slice(1)).get("t");if(e){window.history.replaceState(null,"",window.location.pathname+window.location.search);try{await ht(e)}catch(t){if(t.status!==404&&t.status!==401)throw t}}}function gt({onDone:e}){let[t,n]=k(null);return a`
    <div class="empty"><h1>Sign in</h1><p>Open the link that <code>duetime console</code> has printed, or enter the token of the server.</p>
      <form class="row" onSubmit=${async s=>{s.preventDefault();let{token:o}=Object.fromEntries(new FormData(s.currentTarget));try{await ht(o.trim()),Q.value=!1,e()}catch(l){n(l)}}}><label class="field"><span class="unseen">Token</span><input type="password" name="token" required autocomplete="current-password" /></label><button class="primary">Sign in</button></form>
      <${E} problem=${t} /></div>`}function ra(){for(let{path:e,page:t,title:n}of ft){let r=Ke(e,I.value);if(r)return a`<${ne} key=${e+JSON.stringify(r)} title=${n}><${t} ...${r} /></${ne}>`}return a`<${ne} title="Not found"><${b} alone title="There is no such page"><a class="button" href="/">Overview</a></${b}></${ne}>`}function ne({title:e,children:t}){return C(()=>{document.title=`${e} · Duetime${U.value?.stage?` ${U.value.stage}`:""}`},[e]),t}function la(){let[e,t]=k(null),[n,r]=k(!window.location.hash.startsWith("#t="));C(()=>{bt().then(()=>(r(!0),le())).catch(t)},[]);let s=e?a`<${E} problem=${e} />`:n&&a`<${ra} />`;return a`<${ke}>${Q.value?a`<${gt} onDone=${le} />`:s}</${ke}>`}Be(document);Se(a`<${la} />`,document.getElementById("app"));
