import{a as fe,b as dt}from"./chunk-JET47FGZ.js";import{a as ut}from"./chunk-LHVM5WKL.js";import{d as nt}from"./chunk-VPAP55WX.js";import{a as re,b as p,c as Ne,d as v,e as m,f as q,g as me,h as oe,i as ct,j as R,k as B,l as J,m as pe,n as $e}from"./chunk-LUIH64DO.js";import{b as ot}from"./chunk-RLQGD3QX.js";import{a as H,b as Y}from"./chunk-IMY4PCTV.js";import"./chunk-5R23L36U.js";import{$ as x,Aa as U,Ba as it,Ha as Te,I as ue,Ia as M,J as S,Ja as lt,Ka as O,O as C,T as w,U as E,X as rt,Y as ce,Z as _,_ as P,aa as de,b as h,ba as T,c as N,d as ee,da as j,ga as y,ha as d,i as s,ia as A,ja as te,ka as st,l as ie,m as k,n as Qe,p as Ge,r as Xe,s as le,sa as z,ua as D,v as et,va as ne,w as tt,ya as W,za as at}from"./chunk-3Y3LNSNR.js";var ve=[1,2,3,4,5,6,10,12,15,20,30],be=[1,2,3,4,6,8,12],ft=["minute","hour","day","month","weekday"],Ae=[[1,"Mo"],[2,"Tu"],[3,"We"],[4,"Th"],[5,"Fr"],[6,"Sa"],[0,"Su"]],V=["Sunday","Monday","Tuesday","Wednesday","Thursday","Friday","Saturday"],ht=["January","February","March","April","May","June","July","August","September","October","November","December"],K=[1,2,3,4,5,6,0],Ee={kind:"days",every:15,minute:0,hour:9,weekdays:K,on:"day",day:"1",nth:"1",weekday:1,month:1,fields:["0","9","*","*","*"]};function ge(e,t=Ee){let n=e.trim().split(/\s+/);return n.length!==5||/[@=()]/.test(e)?{...t,kind:"text"}:{...t,fields:n,...Vt(n.map(r=>r.toLowerCase()))??{kind:"fields"}}}function De(e,t=""){let{kind:n,every:r,minute:o,hour:a,day:i,month:l}=e;return n==="minutes"?`${mt(r)} * * * *`:n==="hours"?`${o} ${mt(r)} * * *`:n==="days"?`${o} ${a} * * ${Gt(e.weekdays)}`:n==="year"?`${o} ${a} ${i} ${l} *`:n==="month"&&e.on==="weekday"?`${o} ${a} * * ${Xt(e)}`:n==="month"?`${o} ${a} ${i} * *`:n==="fields"?e.fields.map(u=>u.trim()||"*").join(" "):t}function yt(e,t,n){let r={...e,kind:t};if(t==="minutes"&&!ve.includes(r.every)&&(r.every=Ee.every),t==="hours"&&!be.includes(r.every)&&(r.every=1),t==="year"&&!/^\d+$/.test(r.day)&&(r.day=Ee.day),t==="fields"&&(r.fields=De(e,n).split(/\s+/).slice(0,5)),t==="fields")for(;r.fields.length<5;)r.fields.push("*");return r}function Vt([e,t,n,r,o]){let a=pt(e),i=[n,r,o].every(he);if(a&&t==="*"&&i)return ve.includes(a)?{kind:"minutes",every:a}:null;let l=ye(e,0,59);if(l===null)return null;let u=pt(t);if(u&&i)return be.includes(u)?{kind:"hours",every:u,minute:l}:null;let c=Zt(n,r,o),$=ye(t,0,23);return c&&$!==null?{...c,minute:l,hour:$}:null}function Zt(e,t,n){if(he(e)&&t==="*")return Qt(n);if(!he(n))return null;let r=ye(e,1,31);if(t==="*")return r!==null?{kind:"month",on:"day",day:String(r)}:["l","lw"].includes(e)?{kind:"month",on:"day",day:e.toUpperCase()}:null;let o=ye(t,1,12);return r!==null&&o!==null?{kind:"year",day:String(r),month:o}:null}function Qt(e){if(he(e))return{kind:"days",weekdays:K};let t=/^([a-z]+|\d)(?:#([1-5l])|(l))$/.exec(e);if(t){let r=$t(t[1]);return r===null?null:{kind:"month",on:"weekday",weekday:r,nth:(t[2]??t[3]).toUpperCase()}}let n=new Set;for(let r of e.split(",")){let[o,a,i]=r.split("-").map($t);if(o===null||a===null||i!==void 0)return null;for(let l=o;n.add(l),l!==(a??o);l=(l+1)%7);}return{kind:"days",weekdays:K.filter(r=>n.has(r))}}var he=e=>e==="*"||e==="?",mt=e=>e===1?"*":`*/${e}`;function pt(e){if(e==="*")return 1;let t=/^\*\/(\d{1,2})$/.exec(e);return t?Number(t[1]):null}function ye(e,t,n){let r=/^\d{1,2}$/.test(e)?Number(e):NaN;return r>=t&&r<=n?r:null}function $t(e){if(/^[0-7]$/.test(e))return Number(e)%7;let t=V.findIndex(n=>[n.slice(0,3),n].some(r=>r.toLowerCase()===e));return t<0?null:t}function Gt(e){let t=K.filter(r=>e.includes(r));if(t.length===7)return"*";let n=[];for(let r of t){let o=n.at(-1);o&&K.indexOf(r)===K.indexOf(o.at(-1))+1?o.push(r):n.push([r])}return n.map(r=>r.length>2?`${r[0]}-${r.at(-1)||7}`:r.join(",")).join(",")}function Xt({weekday:e,nth:t}){let n=V[e].slice(0,3).toLowerCase();return t==="L"?`${n}L`:`${n}#${t}`}var vt=e=>`${" ".repeat(Math.max(e-1,0))}^`;var en=[["minutes","every few minutes"],["hours","every few hours"],["days","on days of the week"],["month","every month"],["year","every year"],["fields","field by field"],["text","as text only"]],tn=[["1","first"],["2","second"],["3","third"],["4","fourth"],["5","fifth"],["L","last"]],gt=[...Array.from({length:31},(e,t)=>[String(t+1),`day ${t+1}`]),["L","the last day"],["LW","the last Monday to Friday"]],kt={expression:"0 9 * * 1-5",timezone:"UTC",gap:"",overlap:"",seconds:"",days:""};function se({expression:e,timezone:t,gap:n,overlap:r,seconds:o,days:a}){let i={...n&&{gap:n},...r&&{overlap:r}};return{type:"cron",expression:e,timezone:t,...o&&{seconds:o},...a&&{days:a},...(n||r)&&{dst:i}}}var ke=({expression:e})=>["days","month","year"].includes(ge(e).kind);function xe({value:e,onChange:t,problem:n}){let[r,o]=h(null),a=nn(r,e.expression),i=c=>t({...e,...c}),l=c=>i({expression:De(c,e.expression)}),u=c=>{o(["fields","text"].includes(c)?c:null),l(yt(a,c,e.expression))};return s`
    <div class="cron">
      <div class="cron-controls">
        <${m} label="Runs" value=${a.kind} options=${en} onChange=${u} />
        <${an} controls=${a} write=${c=>l({...a,...c})} />
      </div>
      <${sn} value=${e.expression} onChange=${c=>i({expression:c})} problem=${n} />
      <div class="fields">
        <${dn} label="Time zone" value=${e.timezone} onChange=${c=>i({timezone:c})} error=${p(n,"rule.timezone")} />
        <${m} label="A local time that does not exist" value=${e.gap} onChange=${c=>i({gap:c})}
          options=${[["","usual"],["shift","run right after the gap"],["skip","leave it out"]]} />
        <${m} label="A local time that comes twice" value=${e.overlap} onChange=${c=>i({overlap:c})}
          options=${[["","usual"],["first","run the first time"],["last","run the last time"],["both","run both times"]]} />
        ${rn(e)&&s`<${m} label="The second is" value=${e.seconds} onChange=${c=>i({seconds:c})} error=${p(n,"rule.seconds")}
          options=${[["","choose"],["first","the first field"],["last","the last field"]]} />`}
        ${on(e)&&s`<${m} label="A day must match" value=${e.days} onChange=${c=>i({days:c})}
          options=${[["","one of the two"],["both","both: date and weekday"]]} />`}
      </div>
    </div>`}function nn(e,t){let n=ge(t);return e&&n.kind!=="text"?{...n,kind:e}:n}var rn=({expression:e,seconds:t})=>!!t||e.trim().split(/\s+/).length===6;function on({expression:e,days:t}){let{kind:n,fields:r}=ge(e);return!!t||n==="fields"&&[r[2],r[4]].every(o=>!/^[*?]$/.test(o))}function sn({value:e,onChange:t,problem:n}){let r=re(),o=n?.errors?.find(({field:i})=>i==="rule.expression"),a=o?.message.replace(/ \(at position \d+\)$/,"");return s`
    <div class="field expression">
      <label for=${r}>Cron expression</label>
      <input id=${r} class="mono" value=${e} maxlength="256" spellcheck=${!1} autocapitalize="off" autocomplete="off"
        aria-invalid=${o?"true":void 0} aria-describedby=${`${r}-error`} onInput=${({currentTarget:i})=>t(i.value)} />
      <div id=${`${r}-error`} class="caret" aria-live="polite">
        ${o&&s`${o.position&&s`<pre aria-hidden="true">${vt(o.position)}</pre>`}<span class="error">${a}</span>`}
      </div>
    </div>`}function an({controls:e,write:t}){switch(e.kind){case"minutes":return s`<${m} label="Every" value=${String(e.every)} options=${bt(ve,"minute")} onChange=${n=>t({every:Number(n)})} />`;case"hours":return s`
        <${m} label="Every" value=${String(e.every)} options=${bt(be,"hour")} onChange=${n=>t({every:Number(n)})} />
        <${v} label="At minute" type="number" min="0" max="59" value=${String(e.minute)} onChange=${n=>n!==""&&t({minute:Number(n)})} />`;case"days":return s`<${Re} ...${{controls:e,write:t}} /><${un} chosen=${e.weekdays} onChange=${n=>t({weekdays:n})} />`;case"month":return s`<${cn} ...${{controls:e,write:t}} /><${Re} ...${{controls:e,write:t}} />`;case"year":return s`
        <${m} label="Month" value=${String(e.month)} options=${ht.map((n,r)=>[String(r+1),n])} onChange=${n=>t({month:Number(n)})} />
        <${m} label="Day" value=${e.day} options=${gt.slice(0,31)} onChange=${n=>t({day:n})} />
        <${Re} ...${{controls:e,write:t}} />`;case"fields":return s`<div class="five">${ft.map((n,r)=>s`
        <${v} key=${n} label=${n} value=${e.fields[r]} onChange=${o=>t({fields:e.fields.with(r,o.replaceAll(" ",""))})} />`)}</div>`;default:return s`<p class="quiet">No controls show this expression. Change the text below.</p>`}}var bt=(e,t)=>e.map(n=>[String(n),n===1?t:`${n} ${t}s`]),ln=e=>String(e).padStart(2,"0");function Re({controls:{hour:e,minute:t},write:n}){let r=(o,a,i)=>s`
    <input type="number" aria-label=${o} min="0" max=${i} value=${ln(a)} onInput=${({currentTarget:{value:l}})=>l!==""&&n({[o]:Number(l)})} />`;return s`<fieldset><legend>At</legend><div class="at">${r("hour",e,23)}<span aria-hidden="true">:</span>${r("minute",t,59)}</div></fieldset>`}function un({chosen:e,onChange:t}){let n=r=>{let o=e.includes(r)?e.filter(a=>a!==r):[...e,r];o.length&&t(o)};return s`
    <fieldset class="choices"><legend>On</legend>
      <div class="segments">${Ae.map(([r,o])=>s`
        <label key=${r} title=${V[r]}><input class="unseen" type="checkbox" aria-label=${V[r]} checked=${e.includes(r)} onChange=${()=>n(r)} /><span aria-hidden="true">${o}</span></label>`)}
      </div>
    </fieldset>`}function cn({controls:e,write:t}){let n=e.on==="weekday";return s`
    <${q} label="On a" value=${e.on} options=${[["day","date"],["weekday","weekday"]]} onChange=${r=>t({on:r})} />
    ${n?s`
        <${m} label="The" value=${e.nth} options=${tn} onChange=${r=>t({nth:r})} />
        <${m} label="Weekday" value=${String(e.weekday)} options=${Ae.map(([r])=>[String(r),V[r]])} onChange=${r=>t({weekday:Number(r)})} />`:s`<${m} label="Day" value=${e.day} options=${gt} onChange=${r=>t({day:r})} />`}`}function dn({label:e,value:t,onChange:n,error:r}){let o=re();return s`
    <${v} label=${e} value=${t} onChange=${n} error=${r} list=${`${o}-zones`} placeholder="Europe/Berlin" />
    <datalist id=${`${o}-zones`}>${it().map(a=>s`<option key=${a} value=${a} />`)}</datalist>`}var mn=150,xt=90*6e4;function Se(e,t=[]){let[n,r]=h({rule:null,answer:null,problem:null,changes:[],asking:!0}),o=ee(0),a=JSON.stringify([e,t]);return N(()=>{let i=o.current+=1,l=c=>i===o.current&&r($=>({...$,asking:!1,...c}));if(!e)return;r(c=>({...c,asking:!0}));let u=setTimeout(()=>pn(e,t).then(l,c=>l({problem:c})),mn);return()=>{clearTimeout(u),o.current+=1}},[a]),n}async function pn(e,t){let n=await k("schedules/preview",{rule:e,exclude:t});return{rule:e,answer:n,problem:null,changes:e.type==="cron"&&U(e.timezone)?await Ie(e,t):[]}}async function Ie(e,t){let n=me(r=>R(r,e.timezone),S());return Promise.all(n.map(async r=>{let o=new Date(r.at-xt).toISOString(),{fire_times:a,daylight_saving:i}=await k("schedules/preview",{rule:e,exclude:t,after:o,count:100}),l=r.at+xt;return{...r,next:a.find(u=>Date.parse(u)>=r.at)??null,notes:i.filter(({at:u})=>Date.parse(u)<=l)}}))}function we({preview:e}){let{rule:t,answer:n,problem:r,changes:o,asking:a}=e,i=U(t?.timezone)?t.timezone:null;return r&&!r.errors?.length?s`<${P} problem=${r} />`:n?s`
    <div class=${`panel ${r?"outdated":""}`} aria-busy=${a}>
      <div class="head"><h2>Next ${n.fire_times.length===1?"run":`${n.fire_times.length} runs`}</h2><span class="in-words">${n.description}</span></div>
      <div class="body">
        ${n.fire_times.length?s`<${pe} times=${n.fire_times} notes=${n.daylight_saving} timezone=${i} caption="The next fire times" />`:s`<p class="quiet">This rule never fires.</p>`}
      </div>
    </div>
    ${o.length>0&&!r&&s`<div class="panel">
      <div class="head"><h2>When the clock changes</h2></div>
      <div class="body"><${$e} changes=${o} timezone=${i} fixed=${ke(t)} /></div>
    </div>`}`:a?s`<${de} />`:s`<${x} icon="alert" tone="amber">This rule cannot be read yet.</${x}>`}var wt={expression:"e",timezone:"zone",gap:"gap",overlap:"twice",seconds:"seconds",days:"days"},St=e=>Object.fromEntries(Object.entries(wt).map(([t,n])=>[n,e[t]]));function Fe(e){return e.has("e")?Object.fromEntries(Object.entries(wt).map(([t,n])=>[t,e.get(n)??(t==="timezone"?"UTC":"")])):null}var Me=()=>({...kt,timezone:W.peek()});function $n(){let e=Fe(y.value)??Me(),t=Se(se(e));return s`
    <div class="page-head"><h1>Cron builder</h1>
      ${C("operate")&&s`<div class="actions"><a class="button primary" href=${d("/schedules/new",St(e))}>Create a schedule of it</a></div>`}
    </div>
    <div class="stack">
      <div class="panel"><div class="body">
        <${xe} value=${e} problem=${t.problem} onChange=${n=>st(St(n),{replace:!0})} />
      </div></div>
      <${we} preview=${t} />
      <div class="same"><span class="quiet">The same on the command line</span><${ce} text=${fn(e)} /></div>
    </div>`}function fn({expression:e,timezone:t,gap:n,overlap:r,seconds:o,days:a}){let i=[t&&t!=="UTC"&&`--tz ${t}`,n&&`--gap ${n}`,r&&`--dst-overlap ${r}`,o&&`--seconds ${o}`,a&&`--days ${a}`];return["duetime cron",hn(e),...i.filter(Boolean)].join(" ")}var hn=e=>`'${e.replaceAll("'","'\\''")}'`;var _e={seconds:1,minutes:60,hours:3600,days:86400},Le={name:"",namespace:"default",kind:"cron",cron:null,every:"15",unit:"minutes",anchor:"",rules:"",type:"python",handler:"",url:"",method:"POST",target:"",payload:"null",priority:"medium",overlap:"skip",policy:"run_once",grace:"60",jitter:"0",max_runs:"",pause_on_failure:"",dates:"",kept:{}},_t="\0payload\0";function Ct(e,t){je("task.payload",e.payload);let{task:n={},misfire:r={},exclude:o=[],...a}=e.kept,i={...a,name:e.name.trim()||null,...Pe(e,t),exclude:[...o,...yn(e)],task:{...n,namespace:e.namespace.trim()||"default",priority:e.priority,target:vn(e),payload:_t},overlap:e.overlap,misfire:{...r,policy:e.policy,grace:ae(e.grace,60)},jitter:ae(e.jitter,0),max_runs:ae(e.max_runs,null),pause_on_failure:ae(e.pause_on_failure,null)};return JSON.stringify(i,null,2).replace(JSON.stringify(_t),()=>e.payload.trim())}function Pe({kind:e,cron:t,every:n,unit:r,anchor:o,rules:a},i){let l=ae(n,0),u=typeof l=="number"?l*_e[r]:l;if(e==="cron")return{rule:i(t)};if(e==="rate")return{rule:{type:"rate",every:u,...o&&{anchor:o}}};if(e==="delay")return{rule:{type:"delay",delay:u}};let c=je("rules",a);return Array.isArray(c)?{rules:c}:{rule:c}}function yn({dates:e,kind:t,cron:n}){let r=e.split(/[\s,;]+/).filter(Boolean);return r.length?[{type:"dates",dates:r,timezone:t==="cron"&&n.timezone||"UTC"}]:[]}function vn({type:e,handler:t,url:n,method:r,target:o,kept:a}){let i=a.task?.target?.type===e?a.task.target:{};return e==="python"?{...i,type:e,handler:t.trim()}:e==="http"?{...i,type:e,url:n.trim(),method:r}:je("task.target",o)}function je(e,t){try{return JSON.parse(t)}catch(n){throw Object.assign(new SyntaxError(`is not JSON: ${n.message}`),{field:e})}}function ae(e,t){let n=e.trim();return n?Number.isFinite(Number(n))?Number(n):n:t}function Tt(e,t,n){let{task:r,misfire:o,exclude:a}=e,{target:i}=r,l=i.type==="http"&&typeof i.url=="string",u=i.type==="python"?"python":l?"http":"json",c=a.filter(b=>b.type==="dates"),$=c.length===1&&c[0].timezone===(e.rule?.timezone??"UTC")?c:[],{starts_at:G,ends_at:L}=e;return{...Le,name:e.name??"",namespace:r.namespace,...bn(e,n),type:u,handler:i.handler??"",url:l?i.url:"",method:i.method??"POST",target:JSON.stringify(i,null,2),payload:t,priority:r.priority,overlap:e.overlap,policy:o.policy,grace:String(o.grace),jitter:String(e.jitter),max_runs:String(e.max_runs??""),pause_on_failure:String(e.pause_on_failure??""),dates:$.flatMap(b=>b.dates).join(", "),kept:{starts_at:G,ends_at:L,task:r,misfire:o,exclude:a.filter(b=>!$.includes(b))}}}function bn({rule:e,rules:t},n){return e?.type==="cron"?{kind:"cron",cron:n(e)}:e?.type==="rate"?{kind:"rate",...Ot(e.every),anchor:e.anchor}:e?.type==="delay"?{kind:"delay",...Ot(e.delay)}:{kind:"json",rules:JSON.stringify(t??e,null,2)}}function Ot(e){let[t,n]=Object.entries(_e).reverse().find(([,r])=>e%r===0)??["seconds",1];return{every:String(e/n),unit:t}}var gn=["name","rule","rules","exclude","task","starts_at","ends_at","max_runs","jitter","misfire","overlap","pause_on_failure"],kn=({source:e})=>nt({...e,entries:e.entries.filter(([t])=>gn.includes(t))}),Nt=e=>M(e*1e3);function Et({schedule:e}){let{misfire:t,task:n}=e,r=[["Rule",e.description],["Target",s`<code>${et(n.target)}</code>`],["If the previous run is not over",ze[e.overlap]??e.overlap],["If a run cannot start in time",`${We[t.policy]??t.policy}; in time is within ${Nt(t.grace)}`],["Jitter",e.jitter?`up to ${Nt(e.jitter)}`:"none"],["Excluded",e.exclude.length?e.exclude.map(o=>o.dates?o.dates.join(", "):o.expression).join("; "):"nothing"],["From",s`<${O} at=${e.starts_at} as="full" none="the beginning" />`],["Until",s`<${O} at=${e.ends_at} as="full" none="no end" />`],["Runs at most",e.max_runs??"any number"],["Pauses after",e.pause_on_failure?`${e.pause_on_failure} dead runs in a row`:"never"],["Version",e.version],["Created",s`<${O} at=${e.created_at} as="full" />`],["Changed",s`<${O} at=${e.updated_at} as="full" />`]];return s`
    <div class="grid">
      <div class="panel"><div class="body"><dl class="facts">${r.map(([o,a])=>s`<dt key=${o}>${o}</dt><dd>${a}</dd>`)}</dl></div></div>
      <div class="panel"><div class="body"><${ut} text=${kn(e)} name="definition" /></div></div>
    </div>`}var ze={skip:"skip the new run",queue:"wait for it",cancel:"cancel the previous run",allow:"run beside it"},We={run_once:"run the latest missed one",run_all:"run all that were missed",skip:"run none of them"};var xn=[["python","Python handler"],["http","HTTP call"],["json","other, as JSON"]],Sn=["POST","GET","PUT","PATCH","DELETE"].map(e=>[e,e]);function At({form:e,change:t,problem:n}){return s`
    <div class="form">
      <${q} label="A run" value=${e.type} options=${xn} onChange=${r=>t({type:r})} />
      ${e.type==="python"&&s`<${wn} value=${e.handler} onChange=${r=>t({handler:r})} error=${p(n,"task.target")} />`}
      ${e.type==="http"&&s`<div class="fields http">
        <${m} label="Method" value=${e.method} options=${Sn} onChange=${r=>t({method:r})} error=${p(n,"task.target.method")} />
        <${v} label="URL" value=${e.url} onChange=${r=>t({url:r})} placeholder="https://…" maxlength="8192" error=${p(n,"task.target.url","task.target")} />
      </div>`}
      ${e.type==="json"&&s`<${Oe} label="Target" value=${e.target} onChange=${r=>t({target:r})} error=${p(n,"task.target")} hint="sqs, sns, eventbridge, lambda, stepfunctions, dynamodb, sql, email or workflow" />`}
      <${Oe} label="Payload" value=${e.payload} onChange=${r=>t({payload:r})} error=${p(n,"task.payload")} hint=${s`JSON; <code>${'"{{scheduled_for}}"'}</code> becomes the fire time`} />
    </div>`}function Oe({label:e,value:t,onChange:n,error:r,hint:o}){return s`<${Ne} label=${e} error=${r} hint=${o}>${a=>s`
    <textarea ...${a} rows="4" spellcheck=${!1} value=${t} onInput=${({currentTarget:i})=>n(i.value)} />`}</${Ne}>`}function wn({value:e,onChange:t,error:n}){let r=re(),[o,a]=h([]);return N(()=>{ie("handlers",{}).then(({items:i})=>a(i.map(({name:l})=>l)),()=>a([]))},[]),s`
    <${v} label="Handler" value=${e} onChange=${t} error=${n} list=${`${r}-names`} placeholder="reports.daily" maxlength="256" />
    <datalist id=${`${r}-names`}>${o.map(i=>s`<option key=${i} value=${i} />`)}</datalist>`}var _n=[["cron","at times of day"],["rate","at an interval"],["delay","after each run"],["json","as JSON"]],On=["high","medium","low"].map(e=>[e,e]),Dt=e=>Object.entries(e);function Cn(){let[e]=h(()=>({...Le,namespace:y.peek().get("ns")||"default",cron:Fe(y.peek())??Me()}));return s`<${Rt} title="New schedule" action="Create" initial=${e} save=${t=>k("schedules",t)} />`}function Tn({id:e}){let t=z(`schedules/${e}`,{},{load:fe,again:!1});return s`<${T} read=${t}>${n=>s`
    <${Rt} title=${`Change ${n.name||"the schedule"}`} action="Save" stays save=${r=>Qe(`schedules/${e}`,r)}
      initial=${Tt(n,dt(n,"task.payload"),Nn)} />`}</${T}>`}var Nn=({expression:e,timezone:t,dst:n={},seconds:r="",days:o=""})=>({expression:e,timezone:t,gap:n.gap??"",overlap:n.overlap??"",seconds:r,days:o});function Rt({title:e,action:t,initial:n,save:r,stays:o=!1}){let[a,i]=h(n),[l,u]=h({busy:!1,problem:null}),c=g=>i(X=>({...X,...g})),{rule:$,broken:G}=En(a),L=Se($),{body:b,problem:I}=An(a),F=l.problem??I;return s`
    <form class="schedule-form" onSubmit=${async g=>{if(g.preventDefault(),I){u({busy:!1,problem:I});return}u({busy:!0,problem:null});try{let X=await r(b);E(t==="Create"?"Created":"Saved"),te(d(`/schedules/${X.id}`))}catch(X){u({busy:!1,problem:X})}}} onInput=${()=>l.problem&&u({busy:!1,problem:null})}>
      <div class="page-head"><h1>${e}</h1></div>
      <div class="split even">
        <div class="stack">
          <section class="panel"><div class="head"><h2>When</h2></div><div class="body form">
            <${q} label="It fires" unseen value=${a.kind} options=${_n} onChange=${g=>c({kind:g})} />
            <${Dn} form=${a} change=${c} problem=${G??L.problem??F} />
          </div></section>
          <section class="panel"><div class="head"><h2>What</h2></div><div class="body"><${At} form=${a} change=${c} problem=${F} /></div></section>
          <section class="panel"><div class="head"><h2>What if</h2></div><div class="body"><${Rn} form=${a} change=${c} problem=${F} /></div></section>
        </div>
        <div class="stack">
          <section class="panel"><div class="body form">
            <div class="fields">
              <${v} label="Name" value=${a.name} onChange=${g=>c({name:g})} maxlength="256" placeholder="daily-report" error=${p(F,"name")} />
              <${v} label="Namespace" value=${a.namespace} onChange=${g=>c({namespace:g})} maxlength="128" disabled=${o} error=${p(F,"task.namespace")} />
              <${m} label="Priority" value=${a.priority} options=${On} onChange=${g=>c({priority:g})} />
            </div>
            <${P} problem=${l.problem} />
            <div class="row">${C("operate")&&s`<button class="primary" type="submit" disabled=${l.busy}>${t}</button>`}<a class="button" href=${d("/schedules")}>Back</a></div>
          </div></section>
          <${we} preview=${L} />
          ${b&&t==="Create"&&s`<details class="same"><summary>The same with curl</summary><${ce} text=${In(b)} /></details>`}
        </div>
      </div>
    </form>`}function En(e){try{let{rule:t,rules:n}=Pe(e,se);return{rule:t??n?.[0]??null,broken:null}}catch(t){return{rule:null,broken:It(t)}}}function An(e){try{return{body:Ct(e,se),problem:null}}catch(t){return{body:null,problem:It(t)}}}var It=({field:e,message:t})=>({title:"The form is not complete",errors:[{field:e,message:t}]});function Dn({form:e,change:t,problem:n}){if(e.kind==="cron")return s`<${xe} value=${e.cron} onChange=${o=>t({cron:o})} problem=${n} />`;if(e.kind==="json")return s`<${Oe} label="Rule, or a list of rules" value=${e.rules} onChange=${o=>t({rules:o})} error=${p(n,"rule","rules")}
      hint=${s`such as <code>${'{"type": "cron", "expression": "0 9 * * *", "timezone": "Europe/Berlin"}'}</code>`} />`;let r=p(n,"rule");return s`
    <div class="fields">
      <${v} label=${e.kind==="rate"?"Every":"After"} type="number" min="1" step="any" value=${e.every} onChange=${o=>t({every:o})} error=${r} />
      <${m} label="Unit" value=${e.unit} options=${Object.keys(_e).map(o=>[o,o])} onChange=${o=>t({unit:o})} />
    </div>
    <p class="quiet">${e.kind==="rate"?"Counted from when the schedule is created, however long a run takes.":"Counted from the end of the previous run, whether it succeeded or not."}</p>`}function Rn({form:e,change:t,problem:n}){let r=(o,a,i={})=>s`
    <${v} label=${a} type="number" min="0" step="any" value=${e[o]} onChange=${l=>t({[o]:l})} error=${p(n,i.field??o)} ...${i} />`;return s`
    <div class="form">
      <div class="fields">
        <${m} label="The previous run is not over" value=${e.overlap} options=${Dt(ze)} onChange=${o=>t({overlap:o})} error=${p(n,"overlap")} />
        <${m} label="A run cannot start in time" value=${e.policy} options=${Dt(We)} onChange=${o=>t({policy:o})} error=${p(n,"misfire.policy")} />
      </div>
      <details><summary>More</summary><div class="fields more-fields">
        ${r("grace","In time is within (seconds)",{field:"misfire.grace"})}
        ${r("jitter","Spread starts over (seconds)")}
        ${r("max_runs","Runs at most",{placeholder:"any number"})}
        ${r("pause_on_failure","Pause after dead runs in a row",{placeholder:"never"})}
        <${v} label="Not on these dates" value=${e.dates} onChange=${o=>t({dates:o})} placeholder="2026-12-24, 2026-12-25" error=${p(n,"exclude")} />
      </div></details>
    </div>`}var In=e=>`curl ${window.location.origin}/v1/schedules -H 'content-type: application/json' -d '${e.replaceAll("'","'\\''")}'`;function Ft(e){let t=Ue(`${e}-01`),n=Ue(`${Ce(e,1)}-01`),r=Array(Fn(t)).fill(null);for(let o=t;o<n;o+=1)r.push(Lt(o));for(;r.length%7;)r.push(null);return Array.from({length:r.length/7},(o,a)=>r.slice(a*7,a*7+7))}function Ce(e,t){let[n,r]=e.split("-").map(Number),o=n*12+r-1+t;return`${String(Math.floor(o/12)).padStart(4,"0")}-${String(o%12+1).padStart(2,"0")}`}function Mt(e,t){let n=Ue(e);return Array.from({length:t},(r,o)=>Lt(n-t+1+o))}var Ue=e=>Date.parse(`${e}T00:00:00Z`)/864e5,Lt=e=>new Date(e*864e5).toISOString().slice(0,10),Fn=e=>(e+3)%7;function Pt({ledger:e,upcoming:t,notes:n,exclude:r,dayOf:o,stateOf:a}){let i=new Map,l=u=>(i.has(u)||i.set(u,{items:[],excluded:!1,notes:[]}),i.get(u));for(let u of e)l(o(u.fire_time)).items.push({at:u.fire_time,state:a(u),row:u});for(let u of t)l(o(u)).items.push({at:u,state:"to_come"});for(let u of n)l(o(u.at)).notes.push(u);for(let{dates:u=[]}of r)for(let c of u)l(c).excluded=!0;for(let{items:u}of i.values())u.sort((c,$)=>Date.parse(c.at)-Date.parse($.at));return i}var Mn=1e3,f={broken:{icon:"cross",tone:"red",word:"broken"},dead:{icon:"alert",tone:"red",word:"dead"},missed:{icon:"timeout",tone:"amber",word:"missed"},skipped:{icon:"forward",tone:"amber",word:"skipped"},paused:{icon:"pause",tone:"amber",word:"paused"},late:{icon:"hourglass",tone:"amber",word:"late"},fired:{icon:"check",tone:"green",word:"fired"},to_come:{icon:"dot",tone:"grey",word:"to come"}},jt=Object.keys(f),Ln={skipped_overlap:"skipped",skipped_misfire:"missed",paused:"paused",broken:"broken"};function Z(e){return e.outcome!=="fired"?Ln[e.outcome]??"broken":e.task_status==="DEAD"?"dead":e.late_ms>Mn?"late":"fired"}function qe(e){let t=new Map;for(let n of e)t.set(Z(n),(t.get(Z(n))??0)+1);return jt.filter(n=>t.has(n)).reverse().map(n=>[n,t.get(n)])}function zt(e,t,n,r=30){let o=Pn(e,n);return Mt(t,r).map(a=>{let i=qe(o.get(a)??[]),l=jt.find(u=>i.some(([c])=>c===u))??null;return{day:a,state:l,counts:i}})}function Pn(e,t){let n=new Map;for(let r of e){let o=t(r.fire_time);n.has(o)||n.set(o,[]),n.get(o).push(r)}return n}var Q=e=>e.map(([t,n])=>`${n} ${f[t].word}`).join(", ");var Wt=e=>e.rules??[e.rule];function Be(e){let t=new Set(Wt(e).filter(({type:r})=>r==="cron").map(({timezone:r})=>r)),[n]=t;return t.size===1&&U(n)?n:null}function Ut({schedule:e}){let t=z(`schedules/${e.id}/upcoming`,{count:10}),n=Be(e);return s`
    <div class="stack">
      <div class="panel"><div class="head"><h2>Next</h2></div>
        <div class="body"><${T} read=${t}>${({fire_times:r,daylight_saving:o})=>r.length?s`<${pe} times=${r} notes=${o} timezone=${n} caption="The next fire times" />`:s`<p class="quiet">${jn[e.status]??"It does not fire any more."}</p>`}</${T}></div>
      </div>
      ${n&&s`<${zn} schedule=${e} zone=${n} />`}
    </div>`}var jn={paused:"It is paused, and does not fire until it is resumed.",broken:"Its rule cannot be read."};function zn({schedule:e,zone:t}){let n=Wt(e).find(({type:a})=>a==="cron"),[r,o]=h([]);return N(()=>{let a=!0;return Ie(n,e.exclude).then(i=>a&&o(i),()=>a&&o([])),()=>a=!1},[e.id,e.version]),r.length?s`<div class="panel"><div class="head"><h2>When the clock changes</h2></div>
    <div class="body"><${$e} changes=${r} timezone=${t} fixed=${ke(n)} /></div></div>`:null}var Wn=100,Je=({state:e})=>s`<span class=${`mark tone-${f[e].tone}`}><${w} name=${f[e].icon} />${f[e].word}</span>`,Un=[{id:"fire_time",head:"Fire time",class:"main",cell:e=>s`<${J} at=${e.fire_time} />${e.backfill&&s` <span class="quiet">backfill</span>`}`},{id:"outcome",head:"Outcome",class:"bare",cell:e=>s`<${Je} state=${Z(e)} />`},{id:"late",head:"Late by",class:"number",cell:e=>e.late_ms===null||e.late_ms===void 0?"":M(e.late_ms)},{id:"task",head:"Run",cell:e=>e.task_id&&s`<a href=${d(`/tasks/${e.task_id}`)} aria-label=${`Run ${e.task_id}`}>${e.task_status?s`<${D} status=${e.task_status} />`:"open"}</a>`},{id:"why",head:"Why",cell:e=>Bn(e)}],qn={skipped_overlap:"the previous run was still running",skipped_misfire:"it could not start in time",paused:"the schedule was paused"},Bn=({outcome:e,error:t,reason:n})=>t??qn[e]??n??"";function qt({schedule:e}){let t=H(`schedules/${e.id}/ledger`,{limit:Wn},({fire_time:a,task_id:i})=>`${a} ${i??""}`),{keys:n,list:r}=t.rows,o=n.value.length?r():[];return s`
    <div class="split">
      <div class="stack">
        ${o.length>0&&s`<${Jn} rows=${o} whole=${!t.more} />`}
        <${Y} list=${t} columns=${Un} caption="What became of each fire time"
          empty=${s`<${_} title="No fire time has passed yet">The next ones are beside this list.</${_}>`} />
      </div>
      <${Ut} schedule=${e} />
    </div>`}function Jn({rows:e,whole:t}){let n=zt(e,B(S()),a=>B(a,W.value)),r=Q(qe(e)),o=`The last 30 days: ${r}`;return s`
    <figure class="ledger-strip">
      <figcaption><strong>${r}</strong> <span class="quiet">${t?"in 90 days":`in the last ${le(e.length,"fire time")}`}; below, the last 30 days</span></figcaption>
      <svg viewBox="0 0 300 22" preserveAspectRatio="none" role="img" aria-label=${o}><title>${o}</title>
        ${n.map(({day:a,state:i,counts:l},u)=>s`
          <g key=${a} class=${i?`tone-${f[i].tone}`:"none"}><title>${`${a}: ${Q(l)||"none"}`}</title>
            <rect x=${u*10+1} width="8" y=${i&&i!=="fired"?0:5} height=${i&&i!=="fired"?22:17} rx="1.5" /></g>`)}
      </svg>
      <${ot} head=${["day","fire times"]} rows=${n.filter(({state:a})=>a).map(({day:a,counts:i})=>[a,Q(i)])} />
    </figure>`}var Hn=["Monday","Tuesday","Wednesday","Thursday","Friday","Saturday","Sunday"],Yn=["January","February","March","April","May","June","July","August","September","October","November","December"],Kn=3,Vn=5,He=100;function Jt({schedule:e}){let t=Be(e)??W.value,n=B(ue.value,t),r=/^\d{4}-\d\d$/.test(y.value.get("month")??"")?y.value.get("month"):n.slice(0,7),{days:o,cut:a,problem:i}=Xn(e,r,t),l=`${Yn[Number(r.slice(5))-1]} ${r.slice(0,4)}`,u=c=>A({month:Ce(r,c)});return s`
    <div class="stack">
      <div class="row calendar-head">
        <a class="button small" href=${u(-1)} aria-label="Previous month"><${w} name="back" /></a>
        <h2 aria-live="polite">${l}</h2>
        <a class="button small" href=${u(1)} aria-label="Next month"><${w} name="forward" /></a>
        ${r!==n.slice(0,7)&&s`<a href=${A({month:""})}>this month</a>`}
        <span class="quiet">days and times of ${t}</span>
      </div>
      <${P} problem=${i} />
      ${o?s`<${Zn} month=${r} name=${l} days=${o} today=${n} zone=${t} />`:!i&&s`<${de} />`}
      ${a&&s`<${x} icon="alert" tone="amber">There are more fire times in this month than the calendar reads.</${x}>`}
      <p class="legend">${Object.keys(f).reverse().map(c=>s`<${Je} key=${c} state=${c} />`)}<${Ht} /><span class="mark tone-amber"><${w} name="clock" />the clock changes</span></p>
    </div>`}function Zn({month:e,name:t,days:n,today:r,zone:o}){return s`
    <table class="calendar">
      <caption class="unseen">${t}</caption>
      <thead><tr>${Hn.map(a=>s`<th key=${a} scope="col"><abbr title=${a}>${a.slice(0,2)}</abbr></th>`)}</tr></thead>
      <tbody>${Ft(e).map((a,i)=>s`<tr key=${i}>${a.map((l,u)=>s`
        <td key=${l??u} class=${`${l?"":"outside"} ${l===r?"today":""}`}>${l&&s`<${Qn} day=${l} known=${n.get(l)} zone=${o} isToday=${l===r} />`}</td>`)}</tr>`)}</tbody>
    </table>`}function Qn({day:e,known:t,zone:n,isToday:r}){let o=t?.items??[];return s`
    <span class="day-number">${r?s`<span class="unseen">today, </span>`:""}${Number(e.slice(8))}</span>
    ${t?.excluded&&s`<${Ht} />`}
    ${t?.notes.length>0&&s`<span class="mark tone-amber" title=${Bt(t)}><${w} name="clock" /><span class="unseen">${Bt(t)}</span></span>`}
    ${o.length>Kn?s`<${Gn} items=${o} />`:o.map(({at:a,state:i})=>s`
      <span key=${a} class=${`fire tone-${f[i].tone}`} title=${f[i].word}><${w} name=${f[i].icon} /><span class="unseen">${f[i].word} </span><span class="clock"><${J} at=${a} timezone=${n} day=${!1} /></span></span>`)}`}var Bt=({notes:e})=>e.map(({note:t})=>t).join("; "),Ht=()=>s`<span class="mark tone-grey"><${w} name="slash" /><span class="word">excluded</span></span>`;function Gn({items:e}){let t=Object.keys(f).map(n=>[n,e.filter(r=>r.state===n).length]).filter(([,n])=>n);return s`<span class="fires" title=${Q(t)}>${t.map(([n,r])=>s`
    <span key=${n} class=${`fire tone-${f[n].tone}`}><${w} name=${f[n].icon} />${r}<span class="unseen"> ${f[n].word}</span></span>`)}</span>`}function Xn(e,t,n){let[r,o]=h({}),a=[e.id,e.version,t,n].join(" ");return N(()=>{let i=!0,l=u=>i&&o({key:a,...u});return er(e,t,n).then(l,u=>l({problem:u})),()=>i=!1},[a]),r.key===a?r:{}}async function er(e,t,n){let r=oe(`${t}-01T00:00`,u=>R(u,n)),o=oe(`${Ce(t,1)}-01T00:00`,u=>R(u,n)),[a,i]=await Promise.all([nr(e,r,o),rr(e,r,o)]);return{days:Pt({ledger:a.rows,upcoming:i.times,notes:[...i.notes,...tr(r,o,n)],exclude:e.exclude,dayOf:u=>B(u,n),stateOf:Z}),cut:a.cut||i.cut}}function tr(e,t,n){return me(r=>R(r,n),e,2,31).filter(({at:r})=>r<t).map(r=>{let[o,a]=ct(r);return{at:new Date(r.at).toISOString(),note:`the clock goes from ${o} to ${a}`}})}async function nr(e,t,n){let r=[];if(t>S())return{rows:r,cut:!1};let o;for(let i=0;i<Vn;i+=1){let{items:l,next_cursor:u}=await ie(`schedules/${e.id}/ledger`,{limit:He,cursor:o});if(r.push(...l),o=u,!u||Date.parse(l.at(-1).fire_time)<t)break}return{rows:r.filter(({fire_time:i})=>Date.parse(i)>=t&&Date.parse(i)<n),cut:!!o&&Date.parse(r.at(-1).fire_time)>=t}}async function rr(e,t,n){let r=Math.max(t-1,S(),e.starts_at?Date.parse(e.starts_at)-1:0),o=Math.min(n,e.ends_at?Date.parse(e.ends_at):1/0);if(e.status!=="active"||r>=o)return{times:[],notes:[],cut:!1};let i={...e.rules?{rules:e.rules}:{rule:e.rule},exclude:e.exclude,after:new Date(r).toISOString(),count:He},{fire_times:l,daylight_saving:u}=await k("schedules/preview",i),c=$=>Date.parse($)<o;return{times:l.filter(c),notes:u.filter(({at:$})=>c($)),cut:l.length===He&&c(l.at(-1))}}var or=864e5;function Yt({schedule:e,onChange:t}){let{id:n,status:r}=e,o=e.origin==="code",a=async(I,F,Ze)=>{await k(`schedules/${n}/${I}`,F),E(Ze),await t()},i=ee(null),l=()=>i.current.value.trim()?{note:i.current.value.trim()}:{},u=()=>j({title:"Pause this schedule?",text:s`<p>No run starts until it is resumed. Fire times until then are in the ledger as paused; runs that have started go on.</p>
      <label class="field"><span>Note</span><input ref=${i} maxlength="256" placeholder="why, and who" /></label>`,action:"Pause",run:()=>a("pause",l(),"Paused")}),c=()=>sr(()=>a("resume",{},"Resumed")),$=()=>j({title:"Run it once, now?",text:s`<p>The run is outside of the rule. It waits if runs must not overlap, and it runs while the schedule is paused.</p>`,action:"Run now",run:async()=>{let I=await k(`schedules/${n}/trigger`,{});E("Submitted"),te(d(`/tasks/${I.id}`))}}),G=()=>j({title:"Detach it from the code?",text:s`<p>It becomes an ordinary schedule, which can be changed and deleted here. The code no longer changes it.</p>`,action:"Detach",run:()=>a("detach",{},"Detached")}),L=()=>j({title:`Delete ${e.name||"this schedule"}?`,text:s`<p>Its ledger is deleted too, and runs that have not started are cancelled.</p>`,action:"Delete",danger:!0,run:async()=>{await Ge(`schedules/${n}`),E("Deleted"),te(d("/schedules"))}}),b=ar(e);return s`
    ${r==="active"&&s`<button onClick=${u}>Pause…</button>`}
    ${["paused","broken"].includes(r)&&s`<button class="primary" onClick=${c}>Resume</button>`}
    <button onClick=${$}>Run now…</button>
    ${e.rule?.type!=="delay"&&s`<button onClick=${b}>Backfill…</button>`}
    ${o?s`<button onClick=${G}>Detach…</button>`:s`
      <a class="button" href=${d(`/schedules/${n}/edit`)}>Change</a>
      <button onClick=${L}>Delete…</button>`}`}async function sr(e){try{await e()}catch(t){E(t.message,"red")}}function ar({id:e,overlap:t}){let n=ee(null);return()=>{let r=a=>new Date(oe(a,i=>R(i))).toISOString(),o=a=>n.current.elements[a].value;return j({title:"Run the fire times of a span",text:s`
        <p>Each fire time of the rule in it runs, in order. Times are in ${at.value}.</p>
        <form ref=${n} class="fields" onSubmit=${a=>a.preventDefault()}>
          <label class="field"><span>From</span><input type="datetime-local" name="from" defaultValue=${Te(S()-or)} /></label>
          <label class="field"><span>Until</span><input type="datetime-local" name="to" defaultValue=${Te(S())} /></label>
          <label class="field"><span>Runs</span><select name="overlap">
            <option value="">as the schedule: ${t}</option><option value="allow">side by side</option><option value="queue">one after another</option></select></label>
          <label class="field"><span>At most a minute</span><input type="number" name="per_minute" min="1" max="6000" defaultValue="60" /></label>
        </form>`,action:"Backfill",run:async()=>{let{fire_times:a}=await k(`schedules/${e}/backfill`,{from:r(o("from")),to:r(o("to")),per_minute:Number(o("per_minute")),...o("overlap")&&{overlap:o("overlap")}});E(`${le(a,"fire time")} will run`)}})}}var ir=[{id:"status",head:"Status",class:"bare",cell:e=>s`<${D} status=${e.status} />`},{id:"for",head:"Scheduled for",class:"main",cell:e=>s`<a href=${d(`/tasks/${e.id}`)}>${e.scheduled_for?s`<${J} at=${e.scheduled_for} />`:"run by hand"}</a>`},{id:"started",head:"Started",cell:e=>s`<${O} at=${e.started_at} />`},{id:"drift",head:"Drift",class:"number",cell:e=>M(e.drift_ms)},{id:"took",head:"Took",class:"number",cell:e=>e.started_at&&e.finished_at?M(Date.parse(e.finished_at)-Date.parse(e.started_at)):"–"},{id:"attempt",head:"Attempt",class:"number",cell:e=>tt(e.attempt,e.max_attempts)},{id:"error",head:"Error",cell:e=>e.error?.type??e.reason??""}];function Kt({schedule:e}){let t=H("tasks",{schedule_id:e.id,namespace:e.task.namespace,fields:"summary"});return s`<${Y} list=${t} columns=${ir} caption="Runs of this schedule" href=${({id:n})=>d(`/tasks/${n}`)}
    empty=${s`<${_} title="It has not run yet" />`} />`}var lr=["active","paused","broken","finished"],ur="duetime schedules create --cron '0 9 * * 1-5' --tz Europe/Berlin --handler duetime.hello --name daily",cr=[{id:"status",head:"Status",class:"bare",cell:e=>s`<${D} status=${e.status} />`},{id:"name",head:"Name",class:"main",cell:e=>s`<${pr} schedule=${e} />`},{id:"next",head:"Next",cell:e=>s`<${$r} schedule=${e} />`},{id:"last",head:"Last",cell:e=>s`<${O} at=${e.last_fired_at} none="not yet" />`},{id:"runs",head:"Runs",class:"number",cell:e=>Xe(e.runs)},{id:"origin",head:"Origin",cell:e=>s`<${Ke} schedule=${e} />`}];function dr(){let e=y.value.get("status")??"",t=y.value.get("ns")||"default",n=H("schedules",{namespace:t,status:e});return s`
    <div class="page-head"><h1>Schedules</h1><${ne} title="The list has the schedules of one namespace">namespace ${t}</${ne}>
      <div class="actions">
        <a class="button" href=${d("/cron")}>Cron builder</a>
        ${C("operate")&&s`<a class="button primary" href=${d("/schedules/new")}>New schedule</a>`}
      </div>
    </div>
    <nav class="chips list-chips" aria-label="Status">
      ${["",...lr].map(r=>s`<a key=${r} href=${A({status:r})} aria-current=${e===r?"true":void 0}>${r||"all"}</a>`)}
    </nav>
    <${Y} list=${n} columns=${cr} caption="Schedules" href=${({id:r})=>d(`/schedules/${r}`)}
      empty=${s`<${mr} status=${e} namespace=${t} />`} />`}function mr({status:e,namespace:t}){return e?s`<${_} title=${`No schedule of ${t} is ${e}`}><a href=${A({status:""})}>Show all</a></${_}>`:s`<${_} title=${`No schedules in the namespace ${t}`} command=${ur}>
    ${C("operate")&&s`<a href=${d("/schedules/new")}>Build one</a>, or type:`}</${_}>`}var Ye=({name:e,id:t})=>e||t;function pr({schedule:e}){return s`<a href=${d(`/schedules/${e.id}`)}>${Ye(e)}</a><span class="sub">${e.description??"its rule cannot be read"}</span>`}function $r({schedule:e}){if(e.next_fire_at)return s`<${O} at=${e.next_fire_at} /><span class="sub">${lt(e.next_fire_at,ue.value)}</span>`;let t=e.last_error??e.note;return s`<span class="quiet">–</span>${t&&s`<span class="sub">${t}</span>`}`}function Ke({schedule:e}){return e.origin!=="code"?s`<span class="quiet">API</span>`:s`<${ne} tone="violet" title=${`declared by ${e.app}`}>code</${ne}> <code class="source">${e.source}</code>`}var Ve={ledger:qt,calendar:Jt,history:Kt,definition:Et};function fr({id:e}){let t=z(`schedules/${e}`,{},{load:fe});return s`<${T} read=${t}>${n=>s`<${hr} schedule=${n} reload=${t.reload} />`}</${T}>`}function hr({schedule:e,reload:t}){let n=Object.hasOwn(Ve,y.value.get("view")??"")?y.value.get("view"):"ledger";return s`
    <div class="page-head">
      <${D} status=${e.status} /><h1>${Ye(e)}</h1>
      ${C("operate")&&s`<div class="actions"><${Yt} schedule=${e} onChange=${t} /></div>`}
      <p class="subline"><span>${e.description??"Its rule cannot be read"}</span>
        <span class="quiet">namespace ${e.task.namespace}</span>
        <${Ke} schedule=${e} />
        <span class="quiet"><code>${e.id}</code><${rt} text=${e.id} name="id" /></span></p>
    </div>
    ${e.status==="paused"&&s`<${x} tone="amber" icon="pause">Paused${e.note?`: ${e.note}`:", without a note"}</${x}>`}
    ${e.last_error&&s`<${x} tone="red" icon="alert">${e.last_error}</${x}>`}
    <nav class="tabs" aria-label="Views">${Object.keys(Ve).map(r=>s`
      <a key=${r} href=${A({view:r==="ledger"?"":r,month:""})} aria-current=${n===r?"page":void 0}>${yr(r)}</a>`)}</nav>
    <${Ve[n]} key=${n} schedule=${e} />`}var yr=e=>e[0].toUpperCase()+e.slice(1);export{$n as Cron,Tn as EditSchedule,Cn as NewSchedule,fr as Schedule,dr as Schedules};
