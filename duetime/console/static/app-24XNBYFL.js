import{$ as O,A as D,Aa as X,B as Ce,Ba as P,C as Oe,Ca as B,D as Ae,Da as j,E as Ie,Ea as de,F as k,Fa as Ye,G as M,Ga as Ve,H as re,Ha as q,Ia as Xe,J as Re,K as le,L as Ue,La as w,M as ie,Ma as v,N as Le,O as Me,T as y,V as Pe,W as je,_ as b,a as ye,b as _,ba as Y,c as x,ca as S,d as N,da as ce,e as we,f as ne,fa as qe,g as G,ga as Ge,h as _e,ha as Fe,i as a,j as Ne,ja as V,k as Se,ka as A,la as E,ma as $,na as T,o as Ee,oa as C,p as se,pa as z,q as Te,qa as ze,r as F,ra as Be,s as R,sa as ue,t as xe,ta as We,u as oe,ua as Ke,va as I,w as De,wa as Ze,x as U,xa as He,y as L,ya as Qe,z as Q}from"./chunk-DS7SSHGN.js";var pe={"1h":60,"6h":300,"24h":1200},Je=5;function et(){let e=pe[E.value.get("window")]?E.value.get("window"):"1h",t=ue.value==="*"?void 0:ue.value,n=I("stats",{window:e,step:pe[e]}),r=I("slo"),s=I("stuck",{limit:5}),o=I("lanes"),l=I("dead-letters/groups",{namespace:t}),c=I("schedules",{namespace:t,limit:100});return a`
    <div class="page-head"><h1>Overview</h1><nav class="chips actions" aria-label="Window">
      ${Object.keys(pe).map(i=>a`<a key=${i} href=${T({window:i==="1h"?"":i})} aria-current=${i===e?"true":void 0}>${i}</a>`)}</nav></div>
    <div class="stack">
      <div class="grid answers">
        <${ft} slo=${r} stats=${n} />
        <${ht} stuck=${s} stats=${n} />
        <${gt} groups=${l} />
      </div>
      <${vt} stats=${n} window=${e} />
      <div class="grid halves">
        <${kt} groups=${l} />
        <${yt} schedules=${c} />
      </div>
      <${wt} lanes=${o} />
    </div>`}function f({tone:e,icon:t,title:n,children:r,href:s}){let o=a`<div class="answer-head"><${y} name=${t} /><strong>${n}</strong></div><div class="answer-facts">${r}</div>`;return s?a`<a class=${`panel answer tone-${e}`} href=${s}>${o}</a>`:a`<section class=${`panel answer tone-${e}`}>${o}</section>`}var W=e=>e.problem?.status===404&&e.data===void 0;function ft({slo:e,stats:t}){let n=t.data?.total?.drift_ms,r=n&&a`<span>p50 <b>${w(n.p50)}</b></span><span>p99 <b>${w(n.p99)}</b></span>`;if(t.data?.source==="emf")return a`<${f} tone="grey" icon="external" title="Figures are in CloudWatch">${t.data.url&&a`<a href=${t.data.url} target="_blank" rel="noreferrer">Open the dashboard</a>`}</${f}>`;let s=e.data?.lanes?.filter(({total:m})=>m>0)??[];if(!e.data&&!W(e))return a`<${f} tone="grey" icon="clock" title=${e.problem?"Not known":"…"}>${e.problem?.message}</${f}>`;if(!s.length)return a`<${f} tone="grey" icon="clock" title=${n?"Started on time":"Nothing has started yet"}>${r}</${f}>`;let o=s.reduce((m,g)=>(m.budget_left??1)<=(g.budget_left??1)?m:g),l=Math.max(...s.map(m=>m.burn?.["1h"]??0)),c=s.reduce((m,g)=>m+g.total,0),i=s.reduce((m,g)=>m+g.good,0),p=o.budget_left!==null&&o.budget_left<0,[u,d,h]=p?["red","alert","Late"]:l>1?["amber","alert","Getting late"]:["green","check","On time"];return a`<${f} tone=${u} icon=${d} title=${h} href=${$("/lanes")}>
    <span><b>${re(i/c)}</b> started within ${w(o.objective.drift_ms)}</span>${r}
    <span>budget left <b>${re(Math.max(o.budget_left??1,0))}</b></span><span>burn <b>${l.toFixed(1)}×</b></span></${f}>`}var mt={not_claimed:"not claimed by the scanner",not_taken:"in its lane, not taken",no_worker:"no free worker",lease_run_out:"its executor died",held_back:"held back after an outage",queued_behind:"behind another task of its key",limit:"waits for a limit",set_aside:"set aside: unreadable"};function ht({stuck:e,stats:t}){let n=t.data&&a`
    ${J(t.data.tick_age_seconds)&&a`<span>tick <b>${J(t.data.tick_age_seconds)}</b> ago</span>`}
    ${J(t.data.relay_age_seconds)&&a`<span>relay <b>${J(t.data.relay_age_seconds)}</b> behind</span>`}`;if(W(e))return a`<${f} tone="grey" icon="help" title="Not known here">This server does not say what is stuck.</${f}>`;if(!e.data)return a`<${f} tone="grey" icon="clock" title=${e.problem?"Not known":"…"}>${e.problem?.message}</${f}>`;let{items:r,complete:s}=e.data;return r.length?a`<${f} tone="amber" icon="hourglass" title=${`${r.length}${r.length>=5||!s?" or more":""} stuck`}>
    <ul class="stuck">${r.slice(0,3).map(o=>a`<li key=${o.id}><a href=${$(`/tasks/${o.id}`)}>${o.name||o.target}</a> ${mt[o.why]??o.why} <span class="quiet"><${v} at=${o.since??o.due_at} as="relative" /></span></li>`)}</ul></${f}>`:a`<${f} tone="green" icon="check" title="Nothing stuck">${n}${s===!1&&a`<span>as far as was read</span>`}</${f}>`}var J=e=>e==null?null:w(Math.round(e*1e3));function gt({groups:e}){if(W(e))return a`<${f} tone="grey" icon="help" title="Dead letters" href=${$("/dead")}>Open the list</${f}>`;if(!e.data)return a`<${f} tone="grey" icon="clock" title=${e.problem?"Not known":"…"}>${e.problem?.message}</${f}>`;let{items:t,complete:n,looked_at:r}=e.data,s=t.reduce((l,c)=>l+c.count,0);if(!s)return a`<${f} tone="green" icon="check" title="None dead" href=${$("/dead")}>No task is out of attempts.</${f}>`;let o=t.map(l=>l.first).sort()[0];return a`<${f} tone="red" icon="cross" title=${`${k(s)}${n?"":"+"} dead`} href=${$("/dead")}>
    <span>${M(t.length,"cause")}</span><span>since <b><${v} at=${o} /></b></span>${!n&&a`<span>the latest ${k(r)} were read</span>`}</${f}>`}function bt({series:e,from:t,to:n,step:r}){let s=new Map,o=r*1e3;for(let l=Math.floor(q(t)/o)*o;l<=q(n);l+=o)s.set(l,{at:l,started:0,failed:0,p99:null});for(let l of e){let c=s.get(Math.floor(q(l.at)/o)*o);if(c){for(let[i,p]of Object.entries(l.attempts))c.started+=p,["failed","timed_out","lease_expired"].includes(i)&&(c.failed+=p);l.drift_ms&&(c.p99=Math.max(c.p99??0,l.drift_ms.p99))}}return[...s.values()].sort((l,c)=>l.at-c.at)}function vt({stats:e,window:t}){return W(e)||e.data?.source==="emf"?null:a`<section class="panel" aria-label=${`The last ${t}`}><${S} read=${e} rows=${2}>${n=>{let r=bt(n),s=i=>r.reduce((p,u)=>p+u[i],0),o=(i,p,u,d)=>a`
      <figure class="chart"><figcaption><span>${p}</span><b>${d}</b></figcaption>
        <${Ge} values=${r.map(h=>h[i])} title=${`${p}, ${t}: ${d}`} tone=${u} unfinished /></figure>`,l=n.total?.drift_ms,c=n.step===60?"per minute":`per ${n.step/60} minutes`;return a`<div class="body charts">
        ${o("started",`Attempts ${c}`,"blue",k(s("started")))}
        ${o("p99","Drift p99","violet",l?w(l.p99):"–")}
        ${o("failed",`Failed attempts ${c}`,"red",k(s("failed")))}
      </div>
      <div class="charts-foot"><span class="quiet"><${v} at=${n.from} as="clock" /> – <${v} at=${n.to} as="clock" />; the last bar is not over yet.</span>
      <${Fe} head=${["From","Attempts","Failed","Drift p99"]} rows=${r.filter(({started:i})=>i).map(i=>[Xe(i.at),k(i.started),k(i.failed),w(i.p99)])} /></div>`}}</${S}></section>`}function kt({groups:e}){let[t,n]=_(null);return a`
    <section class="panel" aria-label="Failing now"><div class="head"><h2>Failing now</h2><a href=${$("/dead")}>All causes</a></div>
      ${W(e)?a`<${b} title="This server does not group dead letters"><a href=${$("/tasks",{status:"DEAD"})}>Dead tasks</a></${b}>`:a`<${S} read=${e}>${({items:r})=>r.length?a`<div class="scroll"><table class="rows plain"><tbody>${r.slice(0,5).map(s=>a`
          <tr key=${s.fingerprint}>
            <td class="main bare"><a href=${Ze(s)}>${s.error_type}</a> <span class="target">${s.target}</span><span class="sub">${s.message}</span></td>
            <td class="number bare"><b>${k(s.count)}</b></td>
            <td class="end bare">${D("operate")&&a`<button class="small" onClick=${()=>n({action:"redrive",body:He(s),what:Qe(s)})}>Redrive ${k(s.count)} …</button>`}</td>
          </tr>`)}</tbody></table></div>`:a`<${b} title="Nothing fails"/>`}</${S}>`}
      ${t&&a`<${V} ...${t} onClose=${r=>{n(null),r&&e.reload()}} />`}
    </section>`}function yt({schedules:e}){return a`
    <section class="panel" aria-label="Next"><div class="head"><h2>Next</h2><a href=${$("/schedules")}>All schedules</a></div>
      <${S} read=${e}>${({items:t})=>{let n=t.filter(({status:o,next_fire_at:l})=>o==="active"&&l).sort((o,l)=>o.next_fire_at<l.next_fire_at?-1:1),r=t.filter(({status:o})=>o==="paused"),s=[...n.slice(0,Je),...r.slice(0,Math.max(Je-n.length,1))];return s.length?a`<div class="scroll"><table class="rows plain"><tbody>${s.map(o=>a`
          <tr key=${o.id}>
            <td class="main bare"><a href=${$(`/schedules/${o.id}`)}>${o.name||o.id}</a>${o.status==="paused"&&o.note&&a`<span class="sub">${o.note}</span>`}</td>
            <td class="end bare">${o.status==="paused"?a`<${X} status="paused" />`:a`<${v} at=${o.next_fire_at} as="relative" />`}</td>
            <td class="end bare quiet">${o.status!=="paused"&&a`<${v} at=${o.next_fire_at} />`}</td>
          </tr>`)}</tbody></table></div>`:a`<${b} title="No schedules"><a href=${$("/schedules/new")}>Make one</a></${b}>`}}</${S}>
    </section>`}function wt({lanes:e}){return a`<section class="panel" aria-label="Lanes"><${S} read=${e} rows=${1}>${({items:t})=>a`
    <div class="lane-strip">${t.map(n=>a`
      <a key=${n.lane} href=${$("/lanes")}><span class="lane-name">${n.lane}</span>
        <span><b>${k(n.depth)}</b> waiting</span><span><b>${k(n.running??n.in_flight)}</b> running</span>
        ${n.oldest_seconds!==null&&a`<span>oldest <b>${w(Math.round(n.oldest_seconds*1e3))}</b></span>`}
        ${n.promoted?a`<${P} tone="amber">${k(n.promoted)} promoted</${P}>`:null}</a>`)}</div>`}</${S}></section>`}var K=200;function tt(e){let t=G([]),n=new Map;function r(o){let l=e(o),c=n.get(l);return c?c.value=o:n.set(l,G(o)),l}function s(o){let l=new Set(o);for(let i of n.keys())l.has(i)||n.delete(i);o.length===t.peek().length&&o.every((i,p)=>i===t.peek()[p])||(t.value=o)}return{keys:t,has:o=>n.has(o),row:o=>n.get(o),list:()=>t.peek().map(o=>n.get(o).peek()),replace:o=>ne(()=>s([...new Set(o.map(r))])),append:o=>ne(()=>s([...new Set([...t.peek(),...o.map(r)])].slice(-K))),change:(o,l)=>n.get(o)&&(n.get(o).value={...n.get(o).peek(),...l})}}function at({rows:e,columns:t,href:n,caption:r,selected:s}){let o=N(null),l=N(null),c=d=>{let h=[...o.current.rows],m=h.indexOf(document.activeElement.closest("tr"));h[Math.max(0,Math.min(h.length-1,m+d))]?.focus()},i=()=>document.activeElement.closest("tr")?.dataset.key,p=(d,h=!1)=>{if(!d)return;let m=new Set(s.peek());if(h&&l.current)for(let g of _t(e.keys.peek(),l.current,d))m.add(g);else m.delete(d)||m.add(d);l.current=d,s.value=m};R({j:()=>c(1),k:()=>c(-1),...s&&{x:()=>p(i()),X:()=>p(i(),!0)}});let u=s&&e.keys.value.length>0&&e.keys.value.every(d=>s.value.has(d));return a`
    <div class="scroll"><table class="rows">
      <caption class="unseen">${r}</caption>
      <thead><tr>
        ${s&&a`<th class="check"><input type="checkbox" aria-label="Select all rows" checked=${u}
          onChange=${()=>s.value=new Set(u?[]:e.keys.peek())} /></th>`}
        ${t.map(d=>a`<th key=${d.id} scope="col" class=${d.class}>${d.head}</th>`)}
      </tr></thead>
      <tbody ref=${o}>
        ${e.keys.value.map(d=>a`<${Nt} key=${d} name=${d} row=${e.row(d)} ...${{columns:t,href:n,selected:s,toggle:p}} />`)}
      </tbody>
    </table></div>`}function _t(e,t,n){let[r,s]=[e.indexOf(t),e.indexOf(n)].sort((o,l)=>o-l);return e.slice(Math.max(r,0),s+1)}function Nt({name:e,row:t,columns:n,href:r,selected:s,toggle:o}){let l=t.value,c=u=>{!r||u.target.closest("a, button, input, label")||window.getSelection().toString()||C(r(l))},i=u=>u.key==="Enter"&&u.target===u.currentTarget&&r&&C(r(l)),p=s?.value.has(e);return a`
    <tr data-key=${e} tabindex="-1" class=${`${r?"opens":""} ${p?"selected":""}`} onClick=${c} onKeyDown=${i}>
      ${s&&a`<td class="check"><input type="checkbox" aria-label=${`Select ${e}`} checked=${p}
        onClick=${u=>o(e,u.shiftKey)} /></td>`}
      ${n.map(u=>a`<td key=${u.id} class=${u.class} data-label=${u.label??u.head}>${u.cell(l)}</td>`)}
    </tr>`}var te=["PENDING","ENQUEUED","RUNNING","RETRYING","WAITING","SUCCEEDED","DEAD","CANCELLED","EXPIRED"],$e={status:"one or more statuses: status:DEAD,RETRYING",handler:"a Python handler: handler:shop.restock",target:"a type of target: target:http",tag:"a tag: tag:team, or tag.team:growth",ns:"a namespace, or * for all",schedule:"runs of a schedule, by its id",parent:"submitted by the handler of this task",since:"created since: since:24h, or since:2026-11-17T09:00Z",until:"created before",id:"opens the task"},nt=/^[0-9A-HJKMNP-TV-Z]{26}$/i;function Z(e){let t=ot(),n=[],r=[],s=null;for(let o of e.match(/(?:[^\s"]|"[^"]*"|")+/g)??[]){let[,l,c]=/^([a-z]+(?:\.[^:]+)?):(.*)$/i.exec(o)??[],i=c?.replace(/^"(.*)"$/,"$1");l?/^tag\./.test(l)?t.tag.push(i?`${l.slice(4)}:${i}`:l.slice(4)):l==="tag"&&i?t.tag.push(i):l==="status"&&St(i)?t.status=ee(i):l==="id"&&nt.test(i)?s=i.toUpperCase():["handler","target","ns","schedule","parent","since","until"].includes(l)&&i?t[l]=i:n.push(o):r.push(o)}return r.length===1&&nt.test(r[0])?s=r[0].toUpperCase():t.q=r.join(" "),{view:t,unknown:n,open:s}}var ot=()=>({q:"",status:[],handler:"",target:"",tag:[],schedule:"",parent:"",since:"",until:"",ns:""}),ee=e=>e.toUpperCase().split(",").filter(Boolean),St=e=>ee(e).length>0&&ee(e).every(t=>te.includes(t));function rt(e){let t=ot();for(let n of["q","handler","target","schedule","parent","since","until","ns"])t[n]=e.get(n)??"";return t.status=ee(e.getAll("status").join(",")).filter(n=>te.includes(n)),t.tag=e.getAll("tag"),t}var fe=e=>({...e,status:e.status.join(",")});function H(e){let t=[];e.status.length&&t.push(`status:${e.status.join(",")}`);for(let n of["handler","target","schedule","parent","since","until"])e[n]&&t.push(`${n}:${e[n]}`);for(let n of e.tag)t.push(n.includes(":")?`tag.${n.replace(":",Et(n))}`:`tag:${n}`);return e.q&&t.push(e.q),t.join(" ")}var Et=e=>/\s/.test(e)?':"':":";function me(e,t="*"){return Tt({namespace:e.ns||t,status:e.status,name:e.q,handler:e.handler,target:e.target,tag:e.tag,schedule_id:e.schedule,parent_id:e.parent,created_since:st(e.since),created_before:st(e.until)})}var Tt=e=>Object.fromEntries(Object.entries(e).filter(([,t])=>t&&t.length!==0)),xt={s:1,m:60,h:3600,d:86400,w:604800};function st(e){let[,t,n]=/^(\d+)([smhdw])$/.exec(e)??[];if(!t)return e;let r=De()-t*xt[n]*1e3;return new Date(Math.floor(r/6e4)*6e4).toISOString()}var lt=100,Dt=[["All",[]],["To start",["PENDING","ENQUEUED"]],["Running",["RUNNING"]],["Retrying",["RETRYING"]],["Waiting",["WAITING"]],["Succeeded",["SUCCEEDED"]],["Dead",["DEAD"]],["Cancelled",["CANCELLED"]],["Expired",["EXPIRED"]]];function it(){let e=rt(E.value),t=E.value.get("order")==="soonest",n=jt(me(e),t),r=_e(new Set),[s,o]=_(null);Ae(r.value.size>0);let l=c=>{o(null),r.value=new Set,c&&n.read()};return a`
    <div class="page-head"><h1>Tasks</h1><${At} soonest=${t} /></div>
    <${It} view=${e} />
    <nav class="chips" aria-label="Status">${Dt.map(([c,i])=>a`
      <a key=${c} href=${T({status:i.join(",")})} aria-current=${String(i)===String(e.status)?"true":void 0}>${c}</a>`)}
    </nav>
    <div class="panel tasks" onPointerEnter=${()=>n.hovered.current=!0} onPointerLeave=${()=>n.hovered.current=!1}>
      ${D("operate")&&a`<${Rt} view=${e} selected=${r} rows=${n.rows} onAct=${o} />`}
      ${n.news.value>0&&a`<button class="news" onClick=${n.read}><${y} name="refresh" />${M(n.news.value,"new task")}</button>`}
      <${Ct} list=${n} view=${e} selected=${D("operate")?r:void 0} />
    </div>
    ${s&&a`<${V} ...${s} onClose=${l} />`}`}function Ct({list:e,view:t,selected:n}){return e.rows.keys.value.length?a`
    ${e.problem.value&&a`<div class="body"><${O} problem=${e.problem.value} retry=${e.read} /></div>`}
    <${at} rows=${e.rows} columns=${Ot} href=${r=>$(`/tasks/${r.id}`)} caption="Tasks" selected=${n} />
    <${Mt} list=${e} />`:e.problem.value?a`<div class="body"><${O} problem=${e.problem.value} retry=${e.read} /></div>`:e.loading.value?a`<${Y} rows=${6} />`:a`<${Pt} view=${t} list=${e} />`}var Ot=[{id:"status",head:"Status",class:"bare",cell:e=>a`<${X} status=${e.status} />${e.cancel_requested&&e.status==="RUNNING"&&a` <${P} tone="amber">stopping</${P}>`}`},{id:"name",head:"Name and target",class:"main",cell:e=>a`
      <a href=${$(`/tasks/${e.id}`)}>${le(e)}</a>${e.name&&a` <span class="target">${Re(e.target)}</span>`}
      ${e.error&&e.status!=="SUCCEEDED"&&a`<span class="sub tone-red error-text">${e.error.type}: ${e.error.message}</span>`}
      ${e.reason&&a`<span class="sub">${Ue[e.reason]??e.reason}</span>`}`},{id:"due",head:"Due",cell:e=>a`<${v} at=${e.due_at} />`},{id:"started",head:"Started",cell:e=>e.started_at&&!["RETRYING","PENDING"].includes(e.status)?a`<${v} at=${e.started_at} />`:["PENDING","ENQUEUED","RETRYING"].includes(e.status)?a`<span class="quiet"><${v} at=${e.due_at} as="relative" /></span>`:"–"},{id:"drift",head:"Drift",class:"number",cell:e=>w(e.drift_ms)},{id:"try",head:"Attempt",class:"number",cell:e=>`${e.attempt}/${e.max_attempts}`},{id:"lane",head:"Lane",cell:e=>e.lane},{id:"namespace",head:"Namespace",cell:e=>a`<a class="quiet" href=${T({ns:e.namespace})}>${e.namespace}</a>`}];function At({soonest:e}){return a`<nav class="chips actions" aria-label="Order">
    <a href=${T({order:""})} aria-current=${e?void 0:"true"}>Newest</a>
    <a href=${T({order:"soonest",status:""})} aria-current=${e?"true":void 0}>Due next</a></nav>`}function It({view:e}){let t=H(e),[n,r]=_(t),s=N(null),o=Z(n);x(()=>{H(Z(n).view)!==t&&r(t)},[t]),R({"/":()=>s.current.focus()});let l=(i,p)=>{r(i);let{view:u}=Z(i);z({...fe(u),ns:u.ns||E.value.get("ns")},p)},c=i=>{i.key==="Enter"&&(o.open?C($(`/tasks/${o.open}`)):l(n))};return a`
    <div class="filter">
      <${y} name="search" />
      <input ref=${s} type="search" aria-label="Filter tasks" aria-describedby="filter-hints" aria-invalid=${o.unknown.length>0} value=${n} spellcheck=${!1} autocomplete="off" autocapitalize="off"
        placeholder="Filter: status:DEAD handler:shop.restock tag.team:growth since:24h, or an id" onInput=${({currentTarget:i})=>l(i.value,{replace:!0})} onKeyDown=${c} />
      <kbd aria-hidden="true">/</kbd>
      <div id="filter-hints" class="hints">
        ${o.unknown.map(i=>a`<p key=${i} class="tone-red"><code>${i}</code> means nothing here. Words: ${Object.keys($e).join(", ")}. Statuses: ${te.join(", ")}</p>`)}
        ${!n&&a`<dl class="words">${Object.entries($e).map(([i,p])=>a`<dt><button type="button" class="link" onMouseDown=${u=>u.preventDefault()} onClick=${()=>{r(`${i}:`),s.current.focus()}}>${i}:</button></dt><dd>${p}</dd>`)}</dl>`}
      </div>
    </div>`}function Rt({view:e,selected:t,rows:n,onAct:r}){let s=[...t.value];if(s.length)return a`<div class="bulk"><strong>${s.length} selected</strong>${Lt(s,n,r)}
    <button class="plain" onClick=${()=>t.value=new Set}>Clear</button></div>`;let o=me(e);return Me(o)?a`<div class="bulk"><span class="quiet">All that match</span>
    ${["retry","cancel","shift"].map(l=>{let c=Le(l,o);return c&&a`<button key=${l} class="small" onClick=${()=>r({action:l,body:c,what:Ut(e)})}>${ie[l].verb} …</button>`})}</div>`:null}var Ut=e=>a`<p>Every task that matches</p><p><code>${[e.ns&&`ns:${e.ns}`,H(e)].filter(Boolean).join(" ")}</code></p>`;function Lt(e,t,n){let r=e.map(c=>t.row(c)?.value).filter(Boolean),s=r.filter(({status:c})=>c==="DEAD"),o=r.filter(({status:c})=>ie.cancel.statuses.includes(c)),l=c=>a`<ul>${c.slice(0,5).map(i=>a`<li key=${i.id}>${le(i)}</li>`)}${c.length>5&&a`<li class="quiet">and ${c.length-5} more</li>`}</ul>`;return a`
    ${s.length>0&&a`<button class="small" onClick=${()=>n({action:"redrive",body:{ids:s.map(({id:c})=>c)},what:l(s)})}>Retry ${s.length} …</button>`}
    ${o.length>0&&a`<button class="small" onClick=${()=>n({action:"cancelEach",body:{ids:o.map(({id:c})=>c)},what:l(o)})}>Cancel ${o.length} …</button>`}`}function Mt({list:e}){let t=e.rows.keys.value.length;return a`<div class="foot quiet">
    <span>${M(t,"task")} shown${e.left.value&&a`, the first ones left: at most ${K} are shown`}${e.lookedUntil.value&&a`, due until <${v} at=${e.lookedUntil.value} />`}</span>
    ${e.cursor.value?a`<button class="small" disabled=${e.loading.value} onClick=${e.more}>Show more</button>`:a`<span>End of the list</span>`}
  </div>`}function Pt({view:e,list:t}){let n=H(e);return t.cursor.value?a`<${b} title="No match so far"><p>The newest tasks were read.</p><p><button onClick=${t.more}>Search further</button></p></${b}>`:n||e.ns?a`<${b} title="No task matches"><p class="row">${n&&a`<a class="button small" href=${T(fe({...Z("").view,ns:e.ns}))}>Remove the filter</a>`}
      ${e.ns&&a`<a class="button small" href=${T({ns:""})}>All namespaces</a>`}</p></${b}>`:a`<${b} title="No tasks yet" command="duetime submit --handler duetime.hello --in 5"><p>Submit one in a terminal, or <a href=${$("/new")}>here</a>.</p></${b}>`}function jt(e,t){let n=JSON.stringify([e,t]),r=N(!1),s=we(()=>Ft(e,t,r),[n]);x(()=>{s.read();let l=Ce(s.reread);return()=>{l(),s.end()}},[s]),Oe({topic:"tasks",filter:qt(e)},({items:l})=>l&&s.apply(l));let o=N(s);return(s.loaded.value||s.problem.value)&&(o.current=s),o.current}function qt({namespace:e,status:t,handler:n,schedule_id:r}){return ct({namespace:e==="*"?void 0:e,status:t,handler:n,schedule_id:r})}var ct=e=>Object.fromEntries(Object.entries(e).filter(([,t])=>t!==void 0)),Gt=1e3;function Ft(e,t,n){let r=tt(u=>u.id),s={rows:r,hovered:n,...zt({loading:!0,loaded:!1,problem:null,cursor:null,news:0,left:!1,lookedUntil:null})},o=0,l=[null],c=null,i=u=>Se("tasks",{...e,fields:"summary",limit:lt,order:t?"soonest":void 0,cursor:u});async function p(u,d,h){let m=o+=1;s.loading.value=!0;try{let g=await i(u),ve=[...g.items];for(let ke=1;ke<d&&g.next_cursor;ke+=1)g=await i(g.next_cursor),ve.push(...g.items);if(m!==o)return;h(ve),s.loaded.value=!0,s.cursor.value=g.next_cursor,s.lookedUntil.value=g.looked_until??null,s.problem.value=null,Ke(r.list())}catch(g){m===o&&(s.problem.value=g)}m===o&&(s.loading.value=!1)}return s.read=()=>(l=[null],p(null,1,u=>{r.replace(u),s.news.value=0,s.left.value=!1})),s.reread=()=>p(l[0],l.length,u=>{let d=u.filter(h=>!r.has(h.id));if(!n.current||!r.keys.peek().length){r.replace(u),s.news.value=0;return}r.replace(u.filter(h=>r.has(h.id))),s.news.value=l[0]===null?d.length:0,d.length&&Pe(M(d.length,"new task"))}),s.more=async()=>{let u=s.cursor.peek();await p(u,1,d=>{l=[...l,u].slice(-K/lt),r.keys.peek().length+d.length>K&&(s.left.value=!0),r.append(d)})},s.apply=u=>{for(let d of u){let h=r.row(d.task_id)?.peek();h&&Bt(d,h)&&r.change(d.task_id,Wt(d))}u.some(d=>!r.has(d.task_id)||d.error_type)&&(c??=setTimeout(()=>{c=null,s.reread()},Gt))},s.end=()=>{clearTimeout(c),o+=1},s}function zt(e){return Object.fromEntries(Object.entries(e).map(([t,n])=>[t,G(n)]))}var Bt=(e,t)=>e.updated_at>t.updated_at||e.updated_at===t.updated_at&&e.attempt>=t.attempt;function Wt({status:e,attempt:t,updated_at:n,due_at:r,drift_ms:s}){let o=ct({status:e,attempt:t,updated_at:n,due_at:r??void 0,drift_ms:s??void 0}),l=r&&typeof s=="number"?{started_at:q(r)+s}:{};return{...o,...l}}function ut(e,t){return function(r){let[s,o]=_({});return x(()=>{e().then(l=>o({page:l[t]}),l=>o({problem:l}))},[]),s.problem?a`<${O} problem=${{title:"The page could not be loaded",detail:s.problem.message}} retry=${()=>window.location.reload()} />`:s.page?a`<${s.page} ...${r} />`:a`<${Y} />`}}var he=e=>ut(()=>import("./task_pages-WOB34PAH.js"),e),dt=[{path:"/",title:"Overview",page:et},{path:"/tasks",title:"Tasks",page:it},{path:"/tasks/:id",title:"Task",page:he("Task")},{path:"/dead",title:"Dead letters",page:he("Dead")},{path:"/new",title:"New task",page:he("New")}],ge=[["/","Overview","o"],["/tasks","Tasks","t"],["/schedules","Schedules","s"],["/runs","Runs","r"],["/dead","Dead","d"],["/lanes","Lanes","l"],["/limits","Limits",null],["/forecast","Forecast",null]];function be({children:e}){let t=Object.fromEntries(ge.filter(([,,n])=>n).map(([n,,r])=>[`g ${r}`,()=>C($(n))]));return R({...t,n:()=>D("operate")&&C($("/new")),p:()=>L.value=!L.value,z:Yt,"?":()=>F.value=!0,Escape:()=>A.value!=="/"&&window.history.back()}),a`
    <a class="skip" href="#main" onClick=${n=>{n.preventDefault(),document.getElementById("main").focus()}}>Skip to content</a>
    <${Kt} />
    ${Math.abs(oe.value)>2e3&&a`<p class="banner">This computer's clock differs from the server's by ${Math.round(Math.abs(oe.value)/1e3)} s. Times are the server's.</p>`}
    <main id="main" tabindex="-1">${e}</main>
    <${qe} />
    ${F.value&&a`<${ea} />`}
    <${je} />`}function Kt(){let e=N(null),t=()=>e.current.removeAttribute("data-open");return a`
    <header ref=${e}>
      <a class="brand" href=${$("/")}><svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="8" /><path d="M10 5.500V10l3 2" /></svg>Duetime${U.value?.stage&&a`<span class="stage">${U.value.stage}</span>`}</a>
      <button class="plain menu" aria-label="Menu" onClick=${()=>e.current.toggleAttribute("data-open")}><${y} name="menu" /></button>
      <nav aria-label="Pages" onClick=${t}>
        ${ge.map(([n,r])=>a`<a key=${n} href=${$(n)} aria-current=${Zt(n)?"page":void 0}>${r}</a>`)}
      </nav>
      <div class="controls">
        ${D("operate")&&a`<a class="button primary" href=${$("/new")}><${y} name="plus" />New task</a>`}
        <${Ht} />
        <${Vt} />
        <button class="plain" aria-label="Light or dark" title="Light or dark" onClick=${Te}><${y} name="moon" /></button>
        <a class="plain" href=${$("/settings")} aria-label="Settings" title="Settings"><${y} name="settings" /></a>
        <${Jt} />
      </div>
    </header>`}var Zt=e=>e==="/"?A.value==="/":A.value===e||A.value.startsWith(`${e}/`);function Ht(){let e=({currentTarget:t})=>z({ns:t.value.trim()});return a`
    <label class="field-in"><span class="unseen">Namespace</span>
      <input class="namespace" list="namespaces" value=${E.value.get("ns")??""} placeholder="All namespaces" spellcheck=${!1} autocapitalize="off" autocomplete="off" onChange=${e} />
    </label>
    <datalist id="namespaces">${[...We.value].sort().map(t=>a`<option key=${t} value=${t} />`)}</datalist>`}var Qt=()=>[...new Set(["local","UTC",se.value,B.value])];function Yt(){let e=Qt();pt(e[(e.indexOf(B.value)+1)%e.length])}function pt(e){Ye(e)&&(se.value=e,z({tz:e==="local"?"":e},{replace:!0}))}function Vt(){let e=Ve().filter(t=>t!=="UTC"&&t!==j);return a`
    <label class="zone" title=${`Times are in ${de.value}`}><span class="unseen">Time zone</span><${y} name="globe" />
      <select value=${B.value} onChange=${({currentTarget:t})=>pt(t.value)}>
        <option value="local">Local (${j})</option>
        <option value="UTC">UTC</option>
        ${B.value===j&&a`<option value=${j}>${j}</option>`}
        ${e.map(t=>a`<option key=${t} value=${t}>${t}</option>`)}
      </select><span class="zone-name" aria-hidden="true">${de}</span>
    </label>`}var Xt={live:["Live","Changes are shown as they happen. Click to pause."],polling:["Polling","Read again every 10 seconds. Click to pause."],paused:["Paused","Nothing is fetched. Click to go on."],lost:["No connection","The server does not answer. It is asked again every 10 seconds."]};function Jt(){let[e,t]=Xt[Q.value];return a`
    <button class=${`live is-${Q.value}`} title=${t} aria-pressed=${L.value} onClick=${()=>L.value=!L.value}>
      <span class="live-dot"></span>${e}${Q.value==="lost"&&a`<span class="quiet"> as of <${v} at=${Ne.value.at} as="clock" /></span>`}
    </button>`}function ea(){return a`<${ce} title="Keyboard" onClose=${()=>F.value=!1}>
    <dl class="keys">${xe.map(([e,t])=>a`<dt>${e.split(" ").map(n=>n==="then"?" then ":a`<kbd>${n}</kbd>`)}</dt><dd>${t}</dd>`)}</dl>
    <p class="quiet">Single keys can be turned off in the settings.</p>
    <div class="dialog-actions"><button class="primary" onClick=${()=>F.value=!1}>Close</button></div></${ce}>`}async function $t(){let e=new URLSearchParams(window.location.hash.slice(1)).get("t");e&&(window.history.replaceState(null,"",window.location.pathname+window.location.search),await Ee("POST","../auth",{body:{token:e}}))}function ta(){for(let{path:e,page:t,title:n}of dt){let r=Be(e,A.value);if(r)return a`<${ae} key=${e+JSON.stringify(r)} title=${n}><${t} ...${r} /></${ae}>`}return a`<${ae} title="Not found"><${b} alone title="There is no such page"><a class="button" href="/">Overview</a></${b}></${ae}>`}function ae({title:e,children:t}){return x(()=>{document.title=`${e} · Duetime${U.value?.stage?` ${U.value.stage}`:""}`},[e]),t}function aa(){let[e,t]=_(null);return x(()=>{$t().then(Ie).catch(t)},[]),a`<${be}>${e?a`<${O} problem=${e} />`:a`<${ta} />`}</${be}>`}ze(document);ye(a`<${aa} />`,document.getElementById("app"));
