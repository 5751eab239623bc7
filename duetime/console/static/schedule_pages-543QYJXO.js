import{a as fe,b as ht}from"./chunk-RPY65SCY.js";import{a as $t}from"./chunk-GZBACDI2.js";import{d as ot,e as at}from"./chunk-EIGJSXCB.js";import{a as me,b as re,c as ft,d as R,e as q,f as J,g as pe,h as $e}from"./chunk-QVWF3B4H.js";import{a as ne,b as p,c as Ee,d as v,e as m,f as B}from"./chunk-4ESZ3CAD.js";import{b as lt}from"./chunk-YNIGVURB.js";import{a as H,b as Y}from"./chunk-V7V6EJ3C.js";import"./chunk-XQRFPDJE.js";import{$ as ce,Aa as Te,Da as W,Ea as dt,Fa as U,Ga as mt,K as ue,L as w,Ma as Ne,Na as F,Oa as pt,Pa as S,Q as C,W as _,X as E,_ as it,aa as O,b as h,ba as L,c as N,ca as x,d as ee,da as de,ea as T,ga as j,i as o,ja as y,ka as d,l as ie,la as A,m as k,ma as te,n as et,na as ut,p as tt,qa as ct,r as nt,ra as Ce,s as le,v as rt,w as st,wa as z,za as D}from"./chunk-KGWSR3YK.js";var ve=[1,2,3,4,5,6,10,12,15,20,30],be=[1,2,3,4,6,8,12],gt=["minute","hour","day","month","weekday"],De=[[1,"Mo"],[2,"Tu"],[3,"We"],[4,"Th"],[5,"Fr"],[6,"Sa"],[0,"Su"]],K=["Sunday","Monday","Tuesday","Wednesday","Thursday","Friday","Saturday"],kt=["January","February","March","April","May","June","July","August","September","October","November","December"],V=[1,2,3,4,5,6,0],Ae={kind:"days",every:15,minute:0,hour:9,weekdays:V,on:"day",day:"1",nth:"1",weekday:1,month:1,fields:["0","9","*","*","*"]};function se(e,t=Ae){let n=e.trim().split(/\s+/);return n.length!==5||/[@=()]/.test(e)?{...t,kind:"text"}:{...t,fields:n,...tn(n.map(r=>r.toLowerCase()))??{kind:"fields"}}}function Re(e){let{kind:t,fields:n}=se(e);return t==="text"?null:n.slice(0,2).some(s=>s.startsWith("*"))?{gap:"skip",overlap:"both"}:{gap:"shift",overlap:"first"}}function Ie(e,t=""){let{kind:n,every:r,minute:s,hour:a,day:i,month:l}=e;return n==="minutes"?`${yt(r)} * * * *`:n==="hours"?`${s} ${yt(r)} * * *`:n==="days"?`${s} ${a} * * ${sn(e.weekdays)}`:n==="year"?`${s} ${a} ${i} ${l} *`:n==="month"&&e.on==="weekday"?`${s} ${a} * * ${on(e)}`:n==="month"?`${s} ${a} ${i} * *`:n==="fields"?e.fields.map(u=>u.trim()||"*").join(" "):t}function xt(e,t,n){let r={...e,kind:t};if(t==="minutes"&&!ve.includes(r.every)&&(r.every=Ae.every),t==="hours"&&!be.includes(r.every)&&(r.every=1),t==="year"&&!/^\d+$/.test(r.day)&&(r.day=Ae.day),t==="fields"&&(r.fields=Ie(e,n).split(/\s+/).slice(0,5)),t==="fields")for(;r.fields.length<5;)r.fields.push("*");return r}function tn([e,t,n,r,s]){let a=vt(e),i=[n,r,s].every(he);if(a&&t==="*"&&i)return ve.includes(a)?{kind:"minutes",every:a}:null;let l=ye(e,0,59);if(l===null)return null;let u=vt(t);if(u&&i)return be.includes(u)?{kind:"hours",every:u,minute:l}:null;let c=nn(n,r,s),$=ye(t,0,23);return c&&$!==null?{...c,minute:l,hour:$}:null}function nn(e,t,n){if(he(e)&&t==="*")return rn(n);if(!he(n))return null;let r=ye(e,1,31);if(t==="*")return r!==null?{kind:"month",on:"day",day:String(r)}:["l","lw"].includes(e)?{kind:"month",on:"day",day:e.toUpperCase()}:null;let s=ye(t,1,12);return r!==null&&s!==null?{kind:"year",day:String(r),month:s}:null}function rn(e){if(he(e))return{kind:"days",weekdays:V};let t=/^([a-z]+|\d)(?:#([1-5l])|(l))$/.exec(e);if(t){let r=bt(t[1]);return r===null?null:{kind:"month",on:"weekday",weekday:r,nth:(t[2]??t[3]).toUpperCase()}}let n=new Set;for(let r of e.split(",")){let[s,a,i]=r.split("-").map(bt);if(s===null||a===null||i!==void 0)return null;for(let l=s;n.add(l),l!==(a??s);l=(l+1)%7);}return{kind:"days",weekdays:V.filter(r=>n.has(r))}}var he=e=>e==="*"||e==="?",yt=e=>e===1?"*":`*/${e}`;function vt(e){if(e==="*")return 1;let t=/^\*\/(\d{1,2})$/.exec(e);return t?Number(t[1]):null}function ye(e,t,n){let r=/^\d{1,2}$/.test(e)?Number(e):NaN;return r>=t&&r<=n?r:null}function bt(e){if(/^[0-7]$/.test(e))return Number(e)%7;let t=K.findIndex(n=>[n.slice(0,3),n].some(r=>r.toLowerCase()===e));return t<0?null:t}function sn(e){let t=V.filter(r=>e.includes(r));if(t.length===7)return"*";let n=[];for(let r of t){let s=n.at(-1);s&&V.indexOf(r)===V.indexOf(s.at(-1))+1?s.push(r):n.push([r])}return n.map(r=>r.length>2?`${r[0]}-${r.at(-1)||7}`:r.join(",")).join(",")}function on({weekday:e,nth:t}){let n=K[e].slice(0,3).toLowerCase();return t==="L"?`${n}L`:`${n}#${t}`}var St=e=>`${" ".repeat(Math.max(e-1,0))}^`;var an=[["minutes","every few minutes"],["hours","every few hours"],["days","on days of the week"],["month","every month"],["year","every year"],["fields","field by field"],["text","as text only"]],ln=[["1","first"],["2","second"],["3","third"],["4","fourth"],["5","fifth"],["L","last"]],Ot=[...Array.from({length:31},(e,t)=>[String(t+1),`day ${t+1}`]),["L","the last day"],["LW","the last Monday to Friday"]],un=[["shift","run after the gap"],["skip","leave it out"]],cn=[["first","run the first time"],["last","run the last time"],["both","run both times"]],Ct={expression:"0 9 * * 1-5",timezone:"UTC",gap:"",overlap:"",seconds:"",days:""};function oe({expression:e,timezone:t,gap:n,overlap:r,seconds:s,days:a}){let i={...n&&{gap:n},...r&&{overlap:r}};return{type:"cron",expression:e,timezone:t,...s&&{seconds:s},...a&&{days:a},...(n||r)&&{dst:i}}}var ge=({expression:e})=>["days","month","year"].includes(se(e).kind);function ke({value:e,onChange:t,problem:n}){let[r,s]=h(null),a=dn(r,e.expression),i=c=>t({...e,...c}),l=c=>i({expression:Ie(c,e.expression)}),u=c=>{s(["fields","text"].includes(c)?c:null),l(xt(a,c,e.expression))};return o`
    <div class="cron">
      <div class="cron-controls">
        <${m} label="Runs" value=${a.kind} options=${an} onChange=${u} />
        <${fn} controls=${a} write=${c=>l({...a,...c})} />
      </div>
      <${$n} value=${e.expression} onChange=${c=>i({expression:c})} problem=${n} />
      <div class="fields">
        <${bn} label="Time zone" value=${e.timezone} onChange=${c=>i({timezone:c})} error=${p(n,"rule.timezone")} />
        <${m} label="A local time that does not exist" value=${e.gap} onChange=${c=>i({gap:c})}
          options=${wt(un,Re(e.expression)?.gap)} />
        <${m} label="A local time that comes twice" value=${e.overlap} onChange=${c=>i({overlap:c})}
          options=${wt(cn,Re(e.expression)?.overlap)} />
        ${mn(e)&&o`<${m} label="The second is" value=${e.seconds} onChange=${c=>i({seconds:c})} error=${p(n,"rule.seconds")}
          options=${[["","choose"],["first","the first field"],["last","the last field"]]} />`}
        ${pn(e)&&o`<${m} label="A day must match" value=${e.days} onChange=${c=>i({days:c})}
          options=${[["","one of the two"],["both","both: date and weekday"]]} />`}
      </div>
    </div>`}function dn(e,t){let n=se(t);return e&&n.kind!=="text"?{...n,kind:e}:n}function wt(e,t){let[,n]=e.find(([r])=>r===t)??[];return[["",n?`default: ${n}`:"default of the expression"],...e]}var mn=({expression:e,seconds:t})=>!!t||e.trim().split(/\s+/).length===6;function pn({expression:e,days:t}){let{kind:n,fields:r}=se(e);return!!t||n==="fields"&&[r[2],r[4]].every(s=>!/^[*?]$/.test(s))}function $n({value:e,onChange:t,problem:n}){let r=ne(),s=n?.errors?.find(({field:i})=>i==="rule.expression"),a=s?.message.replace(/ \(at position \d+\)$/,"");return o`
    <div class="field expression">
      <label for=${r}>Cron expression</label>
      <input id=${r} class="mono" value=${e} maxlength="256" spellcheck=${!1} autocapitalize="off" autocomplete="off"
        aria-invalid=${s?"true":void 0} aria-describedby=${`${r}-error`} onInput=${({currentTarget:i})=>t(i.value)} />
      <div id=${`${r}-error`} class="caret" aria-live="polite">
        ${s&&o`${s.position&&o`<pre aria-hidden="true">${St(s.position)}</pre>`}<span class="error">${a}</span>`}
      </div>
    </div>`}function fn({controls:e,write:t}){switch(e.kind){case"minutes":return o`<${m} label="Every" value=${String(e.every)} options=${_t(ve,"minute")} onChange=${n=>t({every:Number(n)})} />`;case"hours":return o`
        <${m} label="Every" value=${String(e.every)} options=${_t(be,"hour")} onChange=${n=>t({every:Number(n)})} />
        <${v} label="At minute" type="number" min="0" max="59" value=${String(e.minute)} onChange=${n=>n!==""&&t({minute:Number(n)})} />`;case"days":return o`<${Pe} ...${{controls:e,write:t}} /><${yn} chosen=${e.weekdays} onChange=${n=>t({weekdays:n})} />`;case"month":return o`<${vn} ...${{controls:e,write:t}} /><${Pe} ...${{controls:e,write:t}} />`;case"year":return o`
        <${m} label="Month" value=${String(e.month)} options=${kt.map((n,r)=>[String(r+1),n])} onChange=${n=>t({month:Number(n)})} />
        <${m} label="Day" value=${e.day} options=${Ot.slice(0,31)} onChange=${n=>t({day:n})} />
        <${Pe} ...${{controls:e,write:t}} />`;case"fields":return o`<div class="five">${gt.map((n,r)=>o`
        <${v} key=${n} label=${n} value=${e.fields[r]} onChange=${s=>t({fields:e.fields.with(r,s.replaceAll(" ",""))})} />`)}</div>`;default:return o`<p class="quiet">No controls show this expression. Change the text below.</p>`}}var _t=(e,t)=>e.map(n=>[String(n),n===1?t:`${n} ${t}s`]),hn=e=>String(e).padStart(2,"0");function Pe({controls:{hour:e,minute:t},write:n}){let r=(s,a,i)=>o`
    <input type="number" aria-label=${s} min="0" max=${i} value=${hn(a)} onInput=${({currentTarget:{value:l}})=>l!==""&&n({[s]:Number(l)})} />`;return o`<fieldset><legend>At</legend><div class="at">${r("hour",e,23)}<span aria-hidden="true">:</span>${r("minute",t,59)}</div></fieldset>`}function yn({chosen:e,onChange:t}){let n=r=>{let s=e.includes(r)?e.filter(a=>a!==r):[...e,r];s.length&&t(s)};return o`
    <fieldset class="choices"><legend>On</legend>
      <div class="segments">${De.map(([r,s])=>o`
        <label key=${r} title=${K[r]}><input class="unseen" type="checkbox" aria-label=${K[r]} checked=${e.includes(r)} onChange=${()=>n(r)} /><span aria-hidden="true">${s}</span></label>`)}
      </div>
    </fieldset>`}function vn({controls:e,write:t}){let n=e.on==="weekday";return o`
    <${B} label="On a" value=${e.on} options=${[["day","date"],["weekday","weekday"]]} onChange=${r=>t({on:r})} />
    ${n?o`
        <${m} label="The" value=${e.nth} options=${ln} onChange=${r=>t({nth:r})} />
        <${m} label="Weekday" value=${String(e.weekday)} options=${De.map(([r])=>[String(r),K[r]])} onChange=${r=>t({weekday:Number(r)})} />`:o`<${m} label="Day" value=${e.day} options=${Ot} onChange=${r=>t({day:r})} />`}`}function bn({label:e,value:t,onChange:n,error:r}){let s=ne();return o`
    <${v} label=${e} value=${t} onChange=${n} error=${r} list=${`${s}-zones`} placeholder="Europe/Berlin" />
    <datalist id=${`${s}-zones`}>${mt().map(a=>o`<option key=${a} value=${a} />`)}</datalist>`}var gn=150,Tt=90*6e4;function xe(e,t=[]){let[n,r]=h({rule:null,answer:null,problem:null,changes:[],asking:!0}),s=ee(0),a=JSON.stringify([e,t]);return N(()=>{let i=s.current+=1,l=c=>i===s.current&&r($=>({...$,asking:!1,...c}));if(!e)return;r(c=>({...c,asking:!0}));let u=setTimeout(()=>kn(e,t).then(l,c=>l({problem:c})),gn);return()=>{clearTimeout(u),s.current+=1}},[a]),n}async function kn(e,t){let n=await k("schedules/preview",{rule:e,exclude:t});return{rule:e,answer:n,problem:null,changes:e.type==="cron"&&U(e.timezone)?await Fe(e,t):[]}}async function Fe(e,t){let n=me(r=>R(r,e.timezone),w());return Promise.all(n.map(async r=>{let s=new Date(r.at-Tt).toISOString(),{fire_times:a,daylight_saving:i}=await k("schedules/preview",{rule:e,exclude:t,after:s,count:100}),l=r.at+Tt;return{...r,next:a.find(u=>Date.parse(u)>=r.at)??null,notes:i.filter(({at:u})=>Date.parse(u)<=l)}}))}function Se({preview:e}){let{rule:t,answer:n,problem:r,changes:s,asking:a}=e,i=U(t?.timezone)?t.timezone:null;return r&&!r.errors?.length?o`<${L} problem=${r} />`:n?o`
    <div class=${`panel ${r?"outdated":""}`} aria-busy=${a}>
      <div class="head"><h2>Next ${n.fire_times.length===1?"run":`${n.fire_times.length} runs`}</h2><span class="in-words">${n.description}</span></div>
      <div class="body">
        ${n.fire_times.length?o`<${pe} times=${n.fire_times} notes=${n.daylight_saving} timezone=${i} caption="The next fire times" />`:o`<p class="quiet">This rule never fires.</p>`}
      </div>
    </div>
    ${s.length>0&&!r&&o`<div class="panel">
      <div class="head"><h2>When the clock changes</h2></div>
      <div class="body"><${$e} changes=${s} timezone=${i} fixed=${ge(t)} /></div>
    </div>`}`:a?o`<${de} />`:o`<${x} icon="alert" tone="amber">This rule cannot be read yet.</${x}>`}var Et={expression:"e",timezone:"zone",gap:"gap",overlap:"twice",seconds:"seconds",days:"days"},Nt=e=>Object.fromEntries(Object.entries(Et).map(([t,n])=>[n,e[t]]));function Me(e){return e.has("e")?Object.fromEntries(Object.entries(Et).map(([t,n])=>[t,e.get(n)??(t==="timezone"?"UTC":"")])):null}var Le=()=>({...Ct,timezone:W.peek()});function xn(){let e=Me(y.value)??Le(),t=xe(oe(e));return o`
    <div class="page-head"><h1>Cron builder</h1>
      ${C("operate")&&o`<div class="actions"><a class="button primary" href=${d("/schedules/new",Nt(e))}>Create a schedule of it</a></div>`}
    </div>
    <div class="stack">
      <div class="panel"><div class="body">
        <${ke} value=${e} problem=${t.problem} onChange=${n=>ut(Nt(n),{replace:!0})} />
      </div></div>
      <${Se} preview=${t} />
      <div class="same"><span class="quiet">The same on the command line</span><${ce} text=${Sn(e)} /></div>
    </div>`}function Sn({expression:e,timezone:t,gap:n,overlap:r,seconds:s,days:a}){let i=[t&&t!=="UTC"&&`--tz ${t}`,n&&`--gap ${n}`,r&&`--dst-overlap ${r}`,s&&`--seconds ${s}`,a&&`--days ${a}`];return["duetime cron",wn(e),...i.filter(Boolean)].join(" ")}var wn=e=>`'${e.replaceAll("'","'\\''")}'`;var we={seconds:1,minutes:60,hours:3600,days:86400},je={name:"",namespace:"default",kind:"cron",cron:null,every:"15",unit:"minutes",anchor:"",rules:"",type:"python",handler:"",url:"",method:"POST",target:"",payload:"null",priority:"medium",overlap:"skip",policy:"run_once",grace:"60",jitter:"0",max_runs:"",pause_on_failure:"",dates:"",kept:{}},At="\0payload\0";function Rt(e,t){We("task.payload",e.payload);let{task:n={},misfire:r={},exclude:s=[],...a}=e.kept,i={...a,name:e.name.trim()||null,...ze(e,t),exclude:[...s,..._n(e)],task:{...n,namespace:e.namespace.trim()||"default",priority:e.priority,target:On(e),payload:At},overlap:e.overlap,misfire:{...r,policy:e.policy,grace:ae(e.grace,60)},jitter:ae(e.jitter,0),max_runs:ae(e.max_runs,null),pause_on_failure:ae(e.pause_on_failure,null)};return JSON.stringify(i,null,2).replace(JSON.stringify(At),()=>e.payload.trim())}function ze({kind:e,cron:t,every:n,unit:r,anchor:s,rules:a},i){let l=ae(n,0),u=typeof l=="number"?l*we[r]:l;if(e==="cron")return{rule:i(t)};if(e==="rate")return{rule:{type:"rate",every:u,...s&&{anchor:s}}};if(e==="delay")return{rule:{type:"delay",delay:u}};let c=We("rules",a);return Array.isArray(c)?{rules:c}:{rule:c}}function _n({dates:e,kind:t,cron:n}){let r=e.split(/[\s,;]+/).filter(Boolean);return r.length?[{type:"dates",dates:r,timezone:t==="cron"&&n.timezone||"UTC"}]:[]}function On({type:e,handler:t,url:n,method:r,target:s,kept:a}){let i=a.task?.target?.type===e?a.task.target:{};return e==="python"?{...i,type:e,handler:t.trim()}:e==="http"?{...i,type:e,url:n.trim(),method:r}:We("task.target",s)}function We(e,t){try{return JSON.parse(t)}catch(n){throw Object.assign(new SyntaxError(`is not JSON: ${n.message}`),{field:e})}}function ae(e,t){let n=e.trim();return n?Number.isFinite(Number(n))?Number(n):n:t}function It(e,t,n){let{task:r,misfire:s,exclude:a}=e,{target:i}=r,l=i.type==="http"&&typeof i.url=="string",u=i.type==="python"?"python":l?"http":"json",c=a.filter(b=>b.type==="dates"),$=c.length===1&&c[0].timezone===(e.rule?.timezone??"UTC")?c:[],{starts_at:Q,ends_at:M}=e;return{...je,name:e.name??"",namespace:r.namespace,...Cn(e,n),type:u,handler:i.handler??"",url:l?i.url:"",method:i.method??"POST",target:JSON.stringify(i,null,2),payload:t,priority:r.priority,overlap:e.overlap,policy:s.policy,grace:String(s.grace),jitter:String(e.jitter),max_runs:String(e.max_runs??""),pause_on_failure:String(e.pause_on_failure??""),dates:$.flatMap(b=>b.dates).join(", "),kept:{starts_at:Q,ends_at:M,task:r,misfire:s,exclude:a.filter(b=>!$.includes(b))}}}function Cn({rule:e,rules:t},n){return e?.type==="cron"?{kind:"cron",cron:n(e)}:e?.type==="rate"?{kind:"rate",...Dt(e.every),anchor:e.anchor}:e?.type==="delay"?{kind:"delay",...Dt(e.delay)}:{kind:"json",rules:JSON.stringify(t??e,null,2)}}function Dt(e){let[t,n]=Object.entries(we).reverse().find(([,r])=>e%r===0)??["seconds",1];return{every:String(e/n),unit:t}}var Tn=["name","rule","rules","exclude","task","starts_at","ends_at","max_runs","jitter","misfire","overlap","pause_on_failure"],Nn=({source:e})=>ot({...e,entries:e.entries.filter(([t])=>Tn.includes(t))}),Pt=e=>F(e*1e3);function Ft({schedule:e}){let{misfire:t,task:n}=e,r=[["Rule",e.description],["Target",o`<code>${rt(n.target)}</code>`],["If the previous run is not over",Ue[e.overlap]??e.overlap],["If a run cannot start in time",`${Be[t.policy]??t.policy}; in time is within ${Pt(t.grace)}`],["Jitter",e.jitter?`up to ${Pt(e.jitter)}`:"none"],["Excluded",e.exclude.length?e.exclude.map(s=>s.dates?s.dates.join(", "):s.expression).join("; "):"nothing"],["From",o`<${S} at=${e.starts_at} as="full" none="the beginning" />`],["Until",o`<${S} at=${e.ends_at} as="full" none="no end" />`],["Runs at most",e.max_runs??"any number"],["Pauses after",e.pause_on_failure?`${e.pause_on_failure} dead runs in a row`:"never"],["Version",e.version],["Created",o`<${S} at=${e.created_at} as="full" />`],["Changed",o`<${S} at=${e.updated_at} as="full" />`]];return o`
    <div class="grid">
      <div class="panel"><div class="body"><dl class="facts">${r.map(([s,a])=>o`<dt key=${s}>${s}</dt><dd>${a}</dd>`)}</dl></div></div>
      <div class="panel"><div class="body"><${$t} text=${Nn(e)} name="definition" /></div></div>
    </div>`}var Ue={skip:"skip the new run",queue:"wait for it",cancel:"cancel the previous run",allow:"run beside it"},Be={run_once:"run the latest missed one",run_all:"run all that were missed",skip:"run none of them"};var En=[["python","Python handler"],["http","HTTP call"],["json","other, as JSON"]],An=["POST","GET","PUT","PATCH","DELETE"].map(e=>[e,e]);function Mt({form:e,change:t,problem:n}){return o`
    <div class="form">
      <${B} label="A run" value=${e.type} options=${En} onChange=${r=>t({type:r})} />
      ${e.type==="python"&&o`<${Dn} value=${e.handler} onChange=${r=>t({handler:r})} error=${p(n,"task.target")} />`}
      ${e.type==="http"&&o`<div class="fields http">
        <${m} label="Method" value=${e.method} options=${An} onChange=${r=>t({method:r})} error=${p(n,"task.target.method")} />
        <${v} label="URL" value=${e.url} onChange=${r=>t({url:r})} placeholder="https://…" maxlength="8192" error=${p(n,"task.target.url","task.target")} />
      </div>`}
      ${e.type==="json"&&o`<${_e} label="Target" value=${e.target} onChange=${r=>t({target:r})} error=${p(n,"task.target")} hint="sqs, sns, eventbridge, lambda, stepfunctions, dynamodb, sql, email or workflow" />`}
      <${_e} label="Payload" value=${e.payload} onChange=${r=>t({payload:r})} error=${p(n,"task.payload")} hint=${o`JSON; <code>${'"{{scheduled_for}}"'}</code> becomes the fire time`} />
    </div>`}function _e({label:e,value:t,onChange:n,error:r,hint:s}){return o`<${Ee} label=${e} error=${r} hint=${s}>${a=>o`
    <textarea ...${a} rows="4" spellcheck=${!1} value=${t} onInput=${({currentTarget:i})=>n(i.value)} />`}</${Ee}>`}function Dn({value:e,onChange:t,error:n}){let r=ne(),[s,a]=h([]);return N(()=>{ie("handlers",{}).then(({items:i})=>a(i.map(({name:l})=>l)),()=>a([]))},[]),o`
    <${v} label="Handler" value=${e} onChange=${t} error=${n} list=${`${r}-names`} placeholder="reports.daily" maxlength="256" />
    <datalist id=${`${r}-names`}>${s.map(i=>o`<option key=${i} value=${i} />`)}</datalist>`}var Rn=[["cron","at times of day"],["rate","at an interval"],["delay","after each run"],["json","as JSON"]],In=["high","medium","low"].map(e=>[e,e]),Lt=e=>Object.entries(e);function Pn(){let[e]=h(()=>({...je,namespace:y.peek().get("ns")||"default",cron:Me(y.peek())??Le()}));return o`<${jt} title="New schedule" action="Create" initial=${e} save=${t=>k("schedules",t)} />`}function Fn({id:e}){let t=z(`schedules/${e}`,{},{load:fe,again:!1});return o`<${T} read=${t}>${n=>o`
    <${jt} title=${`Change ${n.name||"the schedule"}`} action="Save" stays save=${r=>et(`schedules/${e}`,r)}
      initial=${It(n,ht(n,"task.payload"),Mn)} />`}</${T}>`}var Mn=({expression:e,timezone:t,dst:n={},seconds:r="",days:s=""})=>({expression:e,timezone:t,gap:n.gap??"",overlap:n.overlap??"",seconds:r,days:s});function jt({title:e,action:t,initial:n,save:r,stays:s=!1}){let[a,i]=h(n),[l,u]=h({busy:!1,problem:null}),c=g=>i(X=>({...X,...g})),{rule:$,broken:Q}=Ln(a),M=xe($),{body:b,problem:I}=jn(a),P=l.problem??I;return o`
    <form class="schedule-form" onSubmit=${async g=>{if(g.preventDefault(),I){u({busy:!1,problem:I});return}u({busy:!0,problem:null});try{let X=await r(b);E(t==="Create"?"Created":"Saved"),te(d(`/schedules/${X.id}`))}catch(X){u({busy:!1,problem:X})}}} onInput=${()=>l.problem&&u({busy:!1,problem:null})}>
      <div class="page-head"><h1>${e}</h1></div>
      <div class="split even">
        <div class="stack">
          <section class="panel"><div class="head"><h2>When</h2></div><div class="body form">
            <${B} label="It fires" unseen value=${a.kind} options=${Rn} onChange=${g=>c({kind:g})} />
            <${zn} form=${a} change=${c} problem=${Q??M.problem??P} />
          </div></section>
          <section class="panel"><div class="head"><h2>What</h2></div><div class="body"><${Mt} form=${a} change=${c} problem=${P} /></div></section>
          <section class="panel"><div class="head"><h2>What if</h2></div><div class="body"><${Wn} form=${a} change=${c} problem=${P} /></div></section>
        </div>
        <div class="stack">
          <section class="panel"><div class="body form">
            <div class="fields">
              <${v} label="Name" value=${a.name} onChange=${g=>c({name:g})} maxlength="256" placeholder="daily-report" error=${p(P,"name")} />
              <${v} label="Namespace" value=${a.namespace} onChange=${g=>c({namespace:g})} maxlength="128" disabled=${s} error=${p(P,"task.namespace")} />
              <${m} label="Priority" value=${a.priority} options=${In} onChange=${g=>c({priority:g})} />
            </div>
            <${L} problem=${l.problem} />
            <div class="row">${C("operate")&&o`<button class="primary" type="submit" disabled=${l.busy}>${t}</button>`}<a class="button" href=${d("/schedules")}>Back</a></div>
          </div></section>
          <${Se} preview=${M} />
          ${b&&t==="Create"&&o`<details class="same"><summary>The same with curl</summary><${ce} text=${at({method:"POST",path:"schedules",body:b})} /></details>`}
        </div>
      </div>
    </form>`}function Ln(e){try{let{rule:t,rules:n}=ze(e,oe);return{rule:t??n?.[0]??null,broken:null}}catch(t){return{rule:null,broken:zt(t)}}}function jn(e){try{return{body:Rt(e,oe),problem:null}}catch(t){return{body:null,problem:zt(t)}}}var zt=({field:e,message:t})=>({title:"The form is not complete",errors:[{field:e,message:t}]});function zn({form:e,change:t,problem:n}){if(e.kind==="cron")return o`<${ke} value=${e.cron} onChange=${s=>t({cron:s})} problem=${n} />`;if(e.kind==="json")return o`<${_e} label="Rule, or a list of rules" value=${e.rules} onChange=${s=>t({rules:s})} error=${p(n,"rule","rules")}
      hint=${o`such as <code>${'{"type": "cron", "expression": "0 9 * * *", "timezone": "Europe/Berlin"}'}</code>`} />`;let r=p(n,"rule");return o`
    <div class="fields">
      <${v} label=${e.kind==="rate"?"Every":"After"} type="number" min="1" step="any" value=${e.every} onChange=${s=>t({every:s})} error=${r} />
      <${m} label="Unit" value=${e.unit} options=${Object.keys(we).map(s=>[s,s])} onChange=${s=>t({unit:s})} />
    </div>
    <p class="quiet">${e.kind==="rate"?"Counted from when the schedule is created, however long a run takes.":"Counted from the end of the previous run, whether it succeeded or not."}</p>`}function Wn({form:e,change:t,problem:n}){let r=(s,a,i={})=>o`
    <${v} label=${a} type="number" min="0" step="any" value=${e[s]} onChange=${l=>t({[s]:l})} error=${p(n,i.field??s)} ...${i} />`;return o`
    <div class="form">
      <div class="fields">
        <${m} label="The previous run is not over" value=${e.overlap} options=${Lt(Ue)} onChange=${s=>t({overlap:s})} error=${p(n,"overlap")} />
        <${m} label="A run cannot start in time" value=${e.policy} options=${Lt(Be)} onChange=${s=>t({policy:s})} error=${p(n,"misfire.policy")} />
      </div>
      <details><summary>More</summary><div class="fields more-fields">
        ${r("grace","In time is within (seconds)",{field:"misfire.grace"})}
        ${r("jitter","Spread starts over (seconds)")}
        ${r("max_runs","Runs at most",{placeholder:"any number"})}
        ${r("pause_on_failure","Pause after dead runs in a row",{placeholder:"never"})}
        <${v} label="Not on these dates" value=${e.dates} onChange=${s=>t({dates:s})} placeholder="2026-12-24, 2026-12-25" error=${p(n,"exclude")} />
      </div></details>
    </div>`}function Wt(e){let t=qe(`${e}-01`),n=qe(`${Oe(e,1)}-01`),r=Array(Un(t)).fill(null);for(let s=t;s<n;s+=1)r.push(Bt(s));for(;r.length%7;)r.push(null);return Array.from({length:r.length/7},(s,a)=>r.slice(a*7,a*7+7))}function Oe(e,t){let[n,r]=e.split("-").map(Number),s=n*12+r-1+t;return`${String(Math.floor(s/12)).padStart(4,"0")}-${String(s%12+1).padStart(2,"0")}`}function Ut(e,t){let n=qe(e);return Array.from({length:t},(r,s)=>Bt(n-t+1+s))}var qe=e=>Date.parse(`${e}T00:00:00Z`)/864e5,Bt=e=>new Date(e*864e5).toISOString().slice(0,10),Un=e=>(e+3)%7;function qt({ledger:e,upcoming:t,notes:n,exclude:r,dayOf:s,stateOf:a}){let i=new Map,l=u=>(i.has(u)||i.set(u,{items:[],excluded:!1,notes:[]}),i.get(u));for(let u of e)l(s(u.fire_time)).items.push({at:u.fire_time,state:a(u),row:u});for(let u of t)l(s(u)).items.push({at:u,state:"to_come"});for(let u of n)l(s(u.at)).notes.push(u);for(let{dates:u=[]}of r)for(let c of u)l(c).excluded=!0;for(let{items:u}of i.values())u.sort((c,$)=>Date.parse(c.at)-Date.parse($.at));return i}var Bn=1e3,f={broken:{icon:"cross",tone:"red",word:"broken"},dead:{icon:"alert",tone:"red",word:"dead"},missed:{icon:"timeout",tone:"amber",word:"missed"},skipped:{icon:"forward",tone:"amber",word:"skipped"},paused:{icon:"pause",tone:"amber",word:"paused"},late:{icon:"hourglass",tone:"amber",word:"late"},fired:{icon:"check",tone:"green",word:"fired"},to_come:{icon:"dot",tone:"grey",word:"to come"}},Jt=Object.keys(f),qn={skipped_overlap:"skipped",skipped_misfire:"missed",paused:"paused",broken:"broken"};function Z(e){return e.outcome!=="fired"?qn[e.outcome]??"broken":e.task_status==="DEAD"?"dead":e.late_ms>Bn?"late":"fired"}function Je(e){let t=new Map;for(let n of e)t.set(Z(n),(t.get(Z(n))??0)+1);return Jt.filter(n=>t.has(n)).reverse().map(n=>[n,t.get(n)])}function Ht(e,t,n,r=30){let s=Jn(e,n);return Ut(t,r).map(a=>{let i=Je(s.get(a)??[]),l=Jt.find(u=>i.some(([c])=>c===u))??null;return{day:a,state:l,counts:i}})}function Jn(e,t){let n=new Map;for(let r of e){let s=t(r.fire_time);n.has(s)||n.set(s,[]),n.get(s).push(r)}return n}var G=e=>e.map(([t,n])=>`${n} ${f[t].word}`).join(", ");var Yt=e=>e.rules??[e.rule];function He(e){let t=new Set(Yt(e).filter(({type:r})=>r==="cron").map(({timezone:r})=>r)),[n]=t;return t.size===1&&U(n)?n:null}function Vt({schedule:e}){let t=z(`schedules/${e.id}/upcoming`,{count:10},{version:e.version}),n=He(e);return o`
    <div class="stack">
      <div class="panel"><div class="head"><h2>Next</h2></div>
        <div class="body"><${T} read=${t}>${({fire_times:r,daylight_saving:s})=>r.length?o`<${pe} times=${r} notes=${s} timezone=${n} caption="The next fire times" />`:o`<p class="quiet">${Hn[e.status]??"It does not fire any more."}</p>`}</${T}></div>
      </div>
      ${n&&o`<${Yn} schedule=${e} zone=${n} />`}
    </div>`}var Hn={paused:"It is paused, and does not fire until it is resumed.",broken:"Its rule cannot be read."};function Yn({schedule:e,zone:t}){let n=Yt(e).find(({type:a})=>a==="cron"),[r,s]=h([]);return N(()=>{let a=!0;return Fe(n,e.exclude).then(i=>a&&s(i),()=>a&&s([])),()=>a=!1},[e.id,e.version]),r.length?o`<div class="panel"><div class="head"><h2>When the clock changes</h2></div>
    <div class="body"><${$e} changes=${r} timezone=${t} fixed=${ge(n)} /></div></div>`:null}var Vn=100,Ye=({state:e})=>o`<span class=${`mark tone-${f[e].tone}`}><${_} name=${f[e].icon} />${f[e].word}</span>`,Kn=[{id:"fire_time",head:"Fire time",class:"main",cell:e=>o`<${J} at=${e.fire_time} />${e.backfill&&o` <span class="quiet">backfill</span>`}`},{id:"outcome",head:"Outcome",class:"bare",cell:e=>o`<${Ye} state=${Z(e)} />`},{id:"late",head:"Late by",class:"number",cell:e=>e.late_ms===null||e.late_ms===void 0?"":F(e.late_ms)},{id:"task",head:"Run",cell:e=>e.task_id&&o`<a href=${d(`/tasks/${e.task_id}`)} aria-label=${`Run ${e.task_id}`}>${e.task_status?o`<${D} status=${e.task_status} />`:"open"}</a>`},{id:"why",head:"Why",cell:e=>Gn(e)}],Zn={skipped_overlap:"the previous run was still running",skipped_misfire:"it could not start in time",paused:"the schedule was paused"},Gn=({outcome:e,error:t,reason:n})=>t??Zn[e]??n??"";function Kt({schedule:e}){let t=H(`schedules/${e.id}/ledger`,{limit:Vn},({fire_time:a,task_id:i})=>`${a} ${i??""}`),{keys:n,list:r}=t.rows,s=n.value.length?r():[];return o`
    <div class="split">
      <div class="stack">
        ${s.length>0&&o`<${Qn} rows=${s} whole=${!t.more} />`}
        <${Y} list=${t} columns=${Kn} caption="What became of each fire time"
          empty=${o`<${O} title="No fire time has passed yet">${e.status==="active"&&"The coming ones are under Next."}</${O}>`} />
      </div>
      <${Vt} schedule=${e} />
    </div>`}function Qn({rows:e,whole:t}){let n=Ht(e,q(w()),a=>q(a,W.value)),r=G(Je(e)),s=`The last 30 days: ${r}`;return o`
    <figure class="ledger-strip">
      <figcaption><strong>${r}</strong> <span class="quiet">${t?"in 90 days":`in the last ${le(e.length,"fire time")}`}; below, the last 30 days</span></figcaption>
      <svg viewBox="0 0 300 22" preserveAspectRatio="none" role="img" aria-label=${s}><title>${s}</title>
        ${n.map(({day:a,state:i,counts:l},u)=>o`
          <g key=${a} class=${i?`tone-${f[i].tone}`:"none"}><title>${`${a}: ${G(l)||"none"}`}</title>
            <rect x=${u*10+1} width="8" y=${i&&i!=="fired"?0:5} height=${i&&i!=="fired"?22:17} rx="1.5" /></g>`)}
      </svg>
      <${lt} head=${["day","fire times"]} rows=${n.filter(({state:a})=>a).map(({day:a,counts:i})=>[a,G(i)])} />
    </figure>`}var Xn=["Monday","Tuesday","Wednesday","Thursday","Friday","Saturday","Sunday"],er=["January","February","March","April","May","June","July","August","September","October","November","December"],tr=3,nr=5,Ve=100;function Gt({schedule:e}){let t=He(e)??W.value,n=q(ue.value,t),r=/^\d{4}-\d\d$/.test(y.value.get("month")??"")?y.value.get("month"):n.slice(0,7),{days:s,cut:a,problem:i}=ar(e,r,t),l=`${er[Number(r.slice(5))-1]} ${r.slice(0,4)}`,u=c=>A({month:Oe(r,c)});return o`
    <div class="stack">
      <div class="row calendar-head">
        <a class="button small" href=${u(-1)} aria-label="Previous month"><${_} name="back" /></a>
        <h2 aria-live="polite">${l}</h2>
        <a class="button small" href=${u(1)} aria-label="Next month"><${_} name="forward" /></a>
        ${r!==n.slice(0,7)&&o`<a href=${A({month:""})}>this month</a>`}
        <span class="quiet">days and times of ${t}</span>
      </div>
      <${L} problem=${i} />
      ${s?o`<${rr} month=${r} name=${l} days=${s} today=${n} zone=${t} />`:!i&&o`<${de} />`}
      ${a&&o`<${x} icon="alert" tone="amber">There are more fire times in this month than the calendar reads.</${x}>`}
      <p class="legend">${Object.keys(f).reverse().map(c=>o`<${Ye} key=${c} state=${c} />`)}<${Qt} /><span class="mark tone-amber"><${_} name="clock" />the clock changes</span></p>
    </div>`}function rr({month:e,name:t,days:n,today:r,zone:s}){return o`
    <table class="calendar">
      <caption class="unseen">${t}</caption>
      <thead><tr>${Xn.map(a=>o`<th key=${a} scope="col"><abbr title=${a}>${a.slice(0,2)}</abbr></th>`)}</tr></thead>
      <tbody>${Wt(e).map((a,i)=>o`<tr key=${i}>${a.map((l,u)=>o`
        <td key=${l??u} class=${`${l?"":"outside"} ${l===r?"today":""}`}>${l&&o`<${sr} day=${l} known=${n.get(l)} zone=${s} isToday=${l===r} />`}</td>`)}</tr>`)}</tbody>
    </table>`}function sr({day:e,known:t,zone:n,isToday:r}){let s=t?.items??[];return o`
    <span class="day-number">${r?o`<span class="unseen">today, </span>`:""}${Number(e.slice(8))}</span>
    ${t?.excluded&&o`<${Qt} />`}
    ${t?.notes.length>0&&o`<span class="mark tone-amber" title=${Zt(t)}><${_} name="clock" /><span class="unseen">${Zt(t)}</span></span>`}
    ${s.length>tr?o`<${or} items=${s} />`:s.map(({at:a,state:i})=>o`
      <span key=${a} class=${`fire tone-${f[i].tone}`} title=${f[i].word}><${_} name=${f[i].icon} /><span class="unseen">${f[i].word} </span><span class="clock"><${J} at=${a} timezone=${n} day=${!1} /></span></span>`)}`}var Zt=({notes:e})=>e.map(({note:t})=>t).join("; "),Qt=()=>o`<span class="mark tone-grey"><${_} name="slash" /><span class="word">excluded</span></span>`;function or({items:e}){let t=Object.keys(f).map(n=>[n,e.filter(r=>r.state===n).length]).filter(([,n])=>n);return o`<span class="fires" title=${G(t)}>${t.map(([n,r])=>o`
    <span key=${n} class=${`fire tone-${f[n].tone}`}><${_} name=${f[n].icon} />${r}<span class="unseen"> ${f[n].word}</span></span>`)}</span>`}function ar(e,t,n){let[r,s]=h({}),a=[e.id,e.version,t,n].join(" ");return N(()=>{let i=!0,l=u=>i&&s({key:a,...u});return ir(e,t,n).then(l,u=>l({problem:u})),()=>i=!1},[a]),r.key===a?r:{}}async function ir(e,t,n){let r=re(`${t}-01T00:00`,u=>R(u,n)),s=re(`${Oe(t,1)}-01T00:00`,u=>R(u,n)),[a,i]=await Promise.all([ur(e,r,s),cr(e,r,s)]);return{days:qt({ledger:a.rows,upcoming:i.times,notes:[...i.notes,...lr(r,s,n)],exclude:e.exclude,dayOf:u=>q(u,n),stateOf:Z}),cut:a.cut||i.cut}}function lr(e,t,n){return me(r=>R(r,n),e,2,31).filter(({at:r})=>r<t).map(r=>{let[s,a]=ft(r);return{at:new Date(r.at).toISOString(),note:`the clock goes from ${s} to ${a}`}})}async function ur(e,t,n){let r=[];if(t>w())return{rows:r,cut:!1};let s;for(let i=0;i<nr;i+=1){let{items:l,next_cursor:u}=await ie(`schedules/${e.id}/ledger`,{limit:Ve,cursor:s});if(r.push(...l),s=u,!u||Date.parse(l.at(-1).fire_time)<t)break}return{rows:r.filter(({fire_time:i})=>Date.parse(i)>=t&&Date.parse(i)<n),cut:!!s&&Date.parse(r.at(-1).fire_time)>=t}}async function cr(e,t,n){let r=Math.max(t-1,w(),e.starts_at?Date.parse(e.starts_at)-1:0),s=Math.min(n,e.ends_at?Date.parse(e.ends_at):1/0);if(e.status!=="active"||r>=s)return{times:[],notes:[],cut:!1};let i={...e.rules?{rules:e.rules}:{rule:e.rule},exclude:e.exclude,after:new Date(r).toISOString(),count:Ve},{fire_times:l,daylight_saving:u}=await k("schedules/preview",i),c=$=>Date.parse($)<s;return{times:l.filter(c),notes:u.filter(({at:$})=>c($)),cut:l.length===Ve&&c(l.at(-1))}}var dr=864e5;function Xt({schedule:e,onChange:t}){let{id:n,status:r}=e,s=e.origin==="code",a=async(I,P,Xe)=>{await k(`schedules/${n}/${I}`,P),E(Xe),await t()},i=ee(null),l=()=>i.current.value.trim()?{note:i.current.value.trim()}:{},u=()=>j({title:"Pause this schedule?",text:o`<p>No run starts until it is resumed. Fire times until then are in the ledger as paused; runs that have started go on.</p>
      <label class="field"><span>Note</span><input ref=${i} maxlength="256" placeholder="why, and who" /></label>`,action:"Pause",run:()=>a("pause",l(),"Paused")}),c=()=>mr(()=>a("resume",{},"Resumed")),$=()=>j({title:"Run it once, now?",text:o`<p>The run is outside of the rule. It waits if runs must not overlap, and it runs while the schedule is paused.</p>`,action:"Run now",run:async()=>{let I=await k(`schedules/${n}/trigger`,{});E("Submitted"),te(d(`/tasks/${I.id}`))}}),Q=()=>j({title:"Detach it from the code?",text:o`<p>It becomes an ordinary schedule, which can be changed and deleted here. The code no longer changes it.</p>`,action:"Detach",run:()=>a("detach",{},"Detached")}),M=()=>j({title:`Delete ${e.name||"this schedule"}?`,text:o`<p>Its ledger is deleted too, and runs that have not started are cancelled.</p>`,action:"Delete",danger:!0,run:async()=>{await tt(`schedules/${n}`),E("Deleted"),te(d("/schedules"))}}),b=pr(e);return o`
    ${r==="active"&&o`<button onClick=${u}>Pause…</button>`}
    ${["paused","broken"].includes(r)&&o`<button class="primary" onClick=${c}>Resume</button>`}
    <button onClick=${$}>Run now…</button>
    ${e.rule?.type!=="delay"&&o`<button onClick=${b}>Backfill…</button>`}
    ${s?o`<button onClick=${Q}>Detach…</button>`:o`
      <a class="button" href=${d(`/schedules/${n}/edit`)}>Change</a>
      <button onClick=${M}>Delete…</button>`}`}async function mr(e){try{await e()}catch(t){E(t.message,"red")}}function pr({id:e,overlap:t}){let n=ee(null);return()=>{let r=a=>new Date(re(a,i=>R(i))).toISOString(),s=a=>n.current.elements[a].value;return j({title:"Run the fire times of a span",text:o`
        <p>Each fire time of the rule in it runs, in order. Times are in ${dt.value}.</p>
        <form ref=${n} class="fields" onSubmit=${a=>a.preventDefault()}>
          <label class="field"><span>From</span><input type="datetime-local" name="from" defaultValue=${Ne(w()-dr)} /></label>
          <label class="field"><span>Until</span><input type="datetime-local" name="to" defaultValue=${Ne(w())} /></label>
          <label class="field"><span>Runs</span><select name="overlap">
            <option value="">as the schedule: ${t}</option><option value="allow">side by side</option><option value="queue">one after another</option></select></label>
          <label class="field"><span>At most a minute</span><input type="number" name="per_minute" min="1" max="6000" defaultValue="60" /></label>
        </form>`,action:"Backfill",run:async()=>{let{fire_times:a}=await k(`schedules/${e}/backfill`,{from:r(s("from")),to:r(s("to")),per_minute:Number(s("per_minute")),...s("overlap")&&{overlap:s("overlap")}});E(`${le(a,"fire time")} will run`)}})}}var $r=[{id:"status",head:"Status",class:"bare",cell:e=>o`<${D} status=${e.status} />`},{id:"for",head:"Scheduled for",class:"main",cell:e=>o`<a href=${d(`/tasks/${e.id}`)}>${e.scheduled_for?o`<${J} at=${e.scheduled_for} />`:"run by hand"}</a>`},{id:"started",head:"Started",cell:e=>o`<${S} at=${e.started_at} />`},{id:"drift",head:"Drift",class:"number",cell:e=>F(e.drift_ms)},{id:"took",head:"Took",class:"number",cell:e=>e.started_at&&e.finished_at?F(Date.parse(e.finished_at)-Date.parse(e.started_at)):"–"},{id:"attempt",head:"Attempt",class:"number",cell:e=>st(e.attempt,e.max_attempts)},{id:"error",head:"Error",cell:e=>e.error?.type??e.reason??""}];function en({schedule:e}){let t=H("tasks",{schedule_id:e.id,namespace:e.task.namespace,fields:"summary"});return o`<${Y} list=${t} columns=${$r} caption="Runs of this schedule" href=${({id:n})=>d(`/tasks/${n}`)}
    empty=${o`<${O} title="It has not run yet" />`} />`}var fr=["active","paused","broken","finished"],hr="duetime schedules create --cron '0 9 * * 1-5' --tz Europe/Berlin --handler duetime.hello --name daily",yr=[{id:"status",head:"Status",class:"bare",cell:e=>o`<${D} status=${e.status} />`},{id:"name",head:"Name",class:"main",cell:e=>o`<${gr} schedule=${e} />`},{id:"next",head:"Next",cell:e=>o`<${kr} schedule=${e} />`},{id:"last",head:"Last",cell:e=>o`<${S} at=${e.last_fired_at} none="not yet" />`},{id:"runs",head:"Runs",class:"number",cell:e=>nt(e.runs)},{id:"origin",head:"Origin",cell:e=>o`<${Ge} schedule=${e} />`}];function vr(){let e=y.value.get("status")??"",t=H("schedules",{namespace:ct.value,status:e});return o`
    <div class="page-head"><h1>Schedules</h1>
      <div class="actions">
        <a class="button" href=${d("/cron")}>Cron builder</a>
        ${C("operate")&&o`<a class="button primary" href=${d("/schedules/new")}>New schedule</a>`}
      </div>
    </div>
    <nav class="chips list-chips" aria-label="Status">
      ${["",...fr].map(n=>o`<a key=${n} href=${A({status:n})} aria-current=${e===n?"true":void 0}>${n||"all"}</a>`)}
    </nav>
    <${Y} list=${t} columns=${yr} caption="Schedules" href=${({id:n})=>d(`/schedules/${n}`)}
      empty=${o`<${br} status=${e} />`} />`}function br({status:e}){return e?o`<${O} title=${`No schedule${Ce()} is ${e}`}><a href=${A({status:""})}>Show all</a></${O}>`:o`<${O} title=${`No schedules${Ce()}`} command=${hr}>
    ${C("operate")&&o`<a href=${d("/schedules/new")}>Build one</a>, or type:`}</${O}>`}var Ke=({name:e,id:t})=>e||t;function gr({schedule:e}){return o`<a href=${d(`/schedules/${e.id}`)}>${Ke(e)}</a><span class="sub">${e.description??"its rule cannot be read"} · ${e.task.namespace}</span>`}function kr({schedule:e}){if(e.next_fire_at)return o`<${S} at=${e.next_fire_at} /><span class="sub">${pt(e.next_fire_at,ue.value)}</span>`;let t=e.last_error??e.note;return o`<span class="quiet">${e.paused_at?o`paused<${Ze} schedule=${e} />`:"–"}</span>${t&&o`<span class="sub">${t}</span>`}`}function Ze({schedule:{paused_at:e,paused_by:t}}){return e?o`${t&&o` by <span title=${t}>${t.split("/").at(-1)||t}</span>`} since <${S} at=${e} />`:null}function Ge({schedule:e}){return e.origin!=="code"?o`<span class="quiet">API</span>`:o`<${Te} tone="violet" title=${`declared by ${e.app}`}>code</${Te}> <code class="source">${e.source}</code>`}var Qe={ledger:Kt,calendar:Gt,history:en,definition:Ft};function xr({id:e}){let t=z(`schedules/${e}`,{},{load:fe});return o`<${T} read=${t}>${n=>o`<${Sr} schedule=${n} reload=${t.reload} />`}</${T}>`}function Sr({schedule:e,reload:t}){let n=Object.hasOwn(Qe,y.value.get("view")??"")?y.value.get("view"):"ledger";return o`
    <div class="page-head">
      <${D} status=${e.status} /><h1>${Ke(e)}</h1>
      ${C("operate")&&o`<div class="actions"><${Xt} schedule=${e} onChange=${t} /></div>`}
      <p class="subline"><span>${e.description??"Its rule cannot be read"}</span>
        <span class="quiet">namespace ${e.task.namespace}</span>
        <${Ge} schedule=${e} />
        <span class="quiet"><code>${e.id}</code><${it} text=${e.id} name="id" /></span></p>
    </div>
    ${e.status==="paused"&&o`<${x} tone="amber" icon="pause">Paused<${Ze} schedule=${e} />${e.note?`: ${e.note}`:", without a note"}</${x}>`}
    ${e.last_error&&o`<${x} tone="red" icon="alert">${e.last_error}</${x}>`}
    <nav class="tabs" aria-label="Views">${Object.keys(Qe).map(r=>o`
      <a key=${r} href=${A({view:r==="ledger"?"":r,month:""})} aria-current=${n===r?"page":void 0}>${wr(r)}</a>`)}</nav>
    <${Qe[n]} key=${n} schedule=${e} />`}var wr=e=>e[0].toUpperCase()+e.slice(1);export{xn as Cron,Fn as EditSchedule,Pn as NewSchedule,xr as Schedule,vr as Schedules};
