import{a as he,b as mt}from"./chunk-RGF7IYV3.js";import{a as ct}from"./chunk-2FCHPCVD.js";import{d as rt}from"./chunk-VPAP55WX.js";import{a as re,b as p,c as Ne,d as v,e as m,f as q,g as pe,h as oe,i as dt,j as R,k as B,l as J,m as $e,n as fe}from"./chunk-5FZ2V467.js";import{b as st}from"./chunk-RY7CRELQ.js";import{a as H,b as Y}from"./chunk-MGF4FO3Z.js";import"./chunk-HCTO7ENQ.js";import{$ as x,Aa as U,Ba as lt,Ha as Te,I as ce,Ia as M,J as w,Ja as ut,Ka as O,O as C,T as S,U as E,X as ot,Y as de,Z as _,_ as L,aa as me,b as h,ba as T,c as N,d as ee,da as j,ga as y,ha as d,i as s,ia as A,ja as te,ka as at,l as le,m as k,n as Qe,p as Xe,r as et,s as ue,sa as z,ua as D,v as tt,va as ne,w as nt,ya as W,za as it}from"./chunk-LL4LUWVG.js";var be=[1,2,3,4,5,6,10,12,15,20,30],ge=[1,2,3,4,6,8,12],ht=["minute","hour","day","month","weekday"],Ae=[[1,"Mo"],[2,"Tu"],[3,"We"],[4,"Th"],[5,"Fr"],[6,"Sa"],[0,"Su"]],K=["Sunday","Monday","Tuesday","Wednesday","Thursday","Friday","Saturday"],yt=["January","February","March","April","May","June","July","August","September","October","November","December"],V=[1,2,3,4,5,6,0],Ee={kind:"days",every:15,minute:0,hour:9,weekdays:V,on:"day",day:"1",nth:"1",weekday:1,month:1,fields:["0","9","*","*","*"]};function se(e,t=Ee){let n=e.trim().split(/\s+/);return n.length!==5||/[@=()]/.test(e)?{...t,kind:"text"}:{...t,fields:n,...Gt(n.map(r=>r.toLowerCase()))??{kind:"fields"}}}function De(e){let{kind:t,fields:n}=se(e);return t==="text"?null:n.slice(0,2).some(o=>o.startsWith("*"))?{gap:"skip",overlap:"both"}:{gap:"shift",overlap:"first"}}function Re(e,t=""){let{kind:n,every:r,minute:o,hour:a,day:i,month:l}=e;return n==="minutes"?`${pt(r)} * * * *`:n==="hours"?`${o} ${pt(r)} * * *`:n==="days"?`${o} ${a} * * ${en(e.weekdays)}`:n==="year"?`${o} ${a} ${i} ${l} *`:n==="month"&&e.on==="weekday"?`${o} ${a} * * ${tn(e)}`:n==="month"?`${o} ${a} ${i} * *`:n==="fields"?e.fields.map(u=>u.trim()||"*").join(" "):t}function vt(e,t,n){let r={...e,kind:t};if(t==="minutes"&&!be.includes(r.every)&&(r.every=Ee.every),t==="hours"&&!ge.includes(r.every)&&(r.every=1),t==="year"&&!/^\d+$/.test(r.day)&&(r.day=Ee.day),t==="fields"&&(r.fields=Re(e,n).split(/\s+/).slice(0,5)),t==="fields")for(;r.fields.length<5;)r.fields.push("*");return r}function Gt([e,t,n,r,o]){let a=$t(e),i=[n,r,o].every(ye);if(a&&t==="*"&&i)return be.includes(a)?{kind:"minutes",every:a}:null;let l=ve(e,0,59);if(l===null)return null;let u=$t(t);if(u&&i)return ge.includes(u)?{kind:"hours",every:u,minute:l}:null;let c=Qt(n,r,o),$=ve(t,0,23);return c&&$!==null?{...c,minute:l,hour:$}:null}function Qt(e,t,n){if(ye(e)&&t==="*")return Xt(n);if(!ye(n))return null;let r=ve(e,1,31);if(t==="*")return r!==null?{kind:"month",on:"day",day:String(r)}:["l","lw"].includes(e)?{kind:"month",on:"day",day:e.toUpperCase()}:null;let o=ve(t,1,12);return r!==null&&o!==null?{kind:"year",day:String(r),month:o}:null}function Xt(e){if(ye(e))return{kind:"days",weekdays:V};let t=/^([a-z]+|\d)(?:#([1-5l])|(l))$/.exec(e);if(t){let r=ft(t[1]);return r===null?null:{kind:"month",on:"weekday",weekday:r,nth:(t[2]??t[3]).toUpperCase()}}let n=new Set;for(let r of e.split(",")){let[o,a,i]=r.split("-").map(ft);if(o===null||a===null||i!==void 0)return null;for(let l=o;n.add(l),l!==(a??o);l=(l+1)%7);}return{kind:"days",weekdays:V.filter(r=>n.has(r))}}var ye=e=>e==="*"||e==="?",pt=e=>e===1?"*":`*/${e}`;function $t(e){if(e==="*")return 1;let t=/^\*\/(\d{1,2})$/.exec(e);return t?Number(t[1]):null}function ve(e,t,n){let r=/^\d{1,2}$/.test(e)?Number(e):NaN;return r>=t&&r<=n?r:null}function ft(e){if(/^[0-7]$/.test(e))return Number(e)%7;let t=K.findIndex(n=>[n.slice(0,3),n].some(r=>r.toLowerCase()===e));return t<0?null:t}function en(e){let t=V.filter(r=>e.includes(r));if(t.length===7)return"*";let n=[];for(let r of t){let o=n.at(-1);o&&V.indexOf(r)===V.indexOf(o.at(-1))+1?o.push(r):n.push([r])}return n.map(r=>r.length>2?`${r[0]}-${r.at(-1)||7}`:r.join(",")).join(",")}function tn({weekday:e,nth:t}){let n=K[e].slice(0,3).toLowerCase();return t==="L"?`${n}L`:`${n}#${t}`}var bt=e=>`${" ".repeat(Math.max(e-1,0))}^`;var nn=[["minutes","every few minutes"],["hours","every few hours"],["days","on days of the week"],["month","every month"],["year","every year"],["fields","field by field"],["text","as text only"]],rn=[["1","first"],["2","second"],["3","third"],["4","fourth"],["5","fifth"],["L","last"]],xt=[...Array.from({length:31},(e,t)=>[String(t+1),`day ${t+1}`]),["L","the last day"],["LW","the last Monday to Friday"]],on=[["shift","run right after the gap"],["skip","leave it out"]],sn=[["first","run the first time"],["last","run the last time"],["both","run both times"]],wt={expression:"0 9 * * 1-5",timezone:"UTC",gap:"",overlap:"",seconds:"",days:""};function ae({expression:e,timezone:t,gap:n,overlap:r,seconds:o,days:a}){let i={...n&&{gap:n},...r&&{overlap:r}};return{type:"cron",expression:e,timezone:t,...o&&{seconds:o},...a&&{days:a},...(n||r)&&{dst:i}}}var ke=({expression:e})=>["days","month","year"].includes(se(e).kind);function xe({value:e,onChange:t,problem:n}){let[r,o]=h(null),a=an(r,e.expression),i=c=>t({...e,...c}),l=c=>i({expression:Re(c,e.expression)}),u=c=>{o(["fields","text"].includes(c)?c:null),l(vt(a,c,e.expression))};return s`
    <div class="cron">
      <div class="cron-controls">
        <${m} label="Runs" value=${a.kind} options=${nn} onChange=${u} />
        <${dn} controls=${a} write=${c=>l({...a,...c})} />
      </div>
      <${cn} value=${e.expression} onChange=${c=>i({expression:c})} problem=${n} />
      <div class="fields">
        <${fn} label="Time zone" value=${e.timezone} onChange=${c=>i({timezone:c})} error=${p(n,"rule.timezone")} />
        <${m} label="A local time that does not exist" value=${e.gap} onChange=${c=>i({gap:c})}
          options=${gt(on,De(e.expression)?.gap)} />
        <${m} label="A local time that comes twice" value=${e.overlap} onChange=${c=>i({overlap:c})}
          options=${gt(sn,De(e.expression)?.overlap)} />
        ${ln(e)&&s`<${m} label="The second is" value=${e.seconds} onChange=${c=>i({seconds:c})} error=${p(n,"rule.seconds")}
          options=${[["","choose"],["first","the first field"],["last","the last field"]]} />`}
        ${un(e)&&s`<${m} label="A day must match" value=${e.days} onChange=${c=>i({days:c})}
          options=${[["","one of the two"],["both","both: date and weekday"]]} />`}
      </div>
    </div>`}function an(e,t){let n=se(t);return e&&n.kind!=="text"?{...n,kind:e}:n}function gt(e,t){let[,n]=e.find(([r])=>r===t)??[];return[["",n?`default: ${n}`:"default of the expression"],...e]}var ln=({expression:e,seconds:t})=>!!t||e.trim().split(/\s+/).length===6;function un({expression:e,days:t}){let{kind:n,fields:r}=se(e);return!!t||n==="fields"&&[r[2],r[4]].every(o=>!/^[*?]$/.test(o))}function cn({value:e,onChange:t,problem:n}){let r=re(),o=n?.errors?.find(({field:i})=>i==="rule.expression"),a=o?.message.replace(/ \(at position \d+\)$/,"");return s`
    <div class="field expression">
      <label for=${r}>Cron expression</label>
      <input id=${r} class="mono" value=${e} maxlength="256" spellcheck=${!1} autocapitalize="off" autocomplete="off"
        aria-invalid=${o?"true":void 0} aria-describedby=${`${r}-error`} onInput=${({currentTarget:i})=>t(i.value)} />
      <div id=${`${r}-error`} class="caret" aria-live="polite">
        ${o&&s`${o.position&&s`<pre aria-hidden="true">${bt(o.position)}</pre>`}<span class="error">${a}</span>`}
      </div>
    </div>`}function dn({controls:e,write:t}){switch(e.kind){case"minutes":return s`<${m} label="Every" value=${String(e.every)} options=${kt(be,"minute")} onChange=${n=>t({every:Number(n)})} />`;case"hours":return s`
        <${m} label="Every" value=${String(e.every)} options=${kt(ge,"hour")} onChange=${n=>t({every:Number(n)})} />
        <${v} label="At minute" type="number" min="0" max="59" value=${String(e.minute)} onChange=${n=>n!==""&&t({minute:Number(n)})} />`;case"days":return s`<${Ie} ...${{controls:e,write:t}} /><${pn} chosen=${e.weekdays} onChange=${n=>t({weekdays:n})} />`;case"month":return s`<${$n} ...${{controls:e,write:t}} /><${Ie} ...${{controls:e,write:t}} />`;case"year":return s`
        <${m} label="Month" value=${String(e.month)} options=${yt.map((n,r)=>[String(r+1),n])} onChange=${n=>t({month:Number(n)})} />
        <${m} label="Day" value=${e.day} options=${xt.slice(0,31)} onChange=${n=>t({day:n})} />
        <${Ie} ...${{controls:e,write:t}} />`;case"fields":return s`<div class="five">${ht.map((n,r)=>s`
        <${v} key=${n} label=${n} value=${e.fields[r]} onChange=${o=>t({fields:e.fields.with(r,o.replaceAll(" ",""))})} />`)}</div>`;default:return s`<p class="quiet">No controls show this expression. Change the text below.</p>`}}var kt=(e,t)=>e.map(n=>[String(n),n===1?t:`${n} ${t}s`]),mn=e=>String(e).padStart(2,"0");function Ie({controls:{hour:e,minute:t},write:n}){let r=(o,a,i)=>s`
    <input type="number" aria-label=${o} min="0" max=${i} value=${mn(a)} onInput=${({currentTarget:{value:l}})=>l!==""&&n({[o]:Number(l)})} />`;return s`<fieldset><legend>At</legend><div class="at">${r("hour",e,23)}<span aria-hidden="true">:</span>${r("minute",t,59)}</div></fieldset>`}function pn({chosen:e,onChange:t}){let n=r=>{let o=e.includes(r)?e.filter(a=>a!==r):[...e,r];o.length&&t(o)};return s`
    <fieldset class="choices"><legend>On</legend>
      <div class="segments">${Ae.map(([r,o])=>s`
        <label key=${r} title=${K[r]}><input class="unseen" type="checkbox" aria-label=${K[r]} checked=${e.includes(r)} onChange=${()=>n(r)} /><span aria-hidden="true">${o}</span></label>`)}
      </div>
    </fieldset>`}function $n({controls:e,write:t}){let n=e.on==="weekday";return s`
    <${q} label="On a" value=${e.on} options=${[["day","date"],["weekday","weekday"]]} onChange=${r=>t({on:r})} />
    ${n?s`
        <${m} label="The" value=${e.nth} options=${rn} onChange=${r=>t({nth:r})} />
        <${m} label="Weekday" value=${String(e.weekday)} options=${Ae.map(([r])=>[String(r),K[r]])} onChange=${r=>t({weekday:Number(r)})} />`:s`<${m} label="Day" value=${e.day} options=${xt} onChange=${r=>t({day:r})} />`}`}function fn({label:e,value:t,onChange:n,error:r}){let o=re();return s`
    <${v} label=${e} value=${t} onChange=${n} error=${r} list=${`${o}-zones`} placeholder="Europe/Berlin" />
    <datalist id=${`${o}-zones`}>${lt().map(a=>s`<option key=${a} value=${a} />`)}</datalist>`}var hn=150,St=90*6e4;function we(e,t=[]){let[n,r]=h({rule:null,answer:null,problem:null,changes:[],asking:!0}),o=ee(0),a=JSON.stringify([e,t]);return N(()=>{let i=o.current+=1,l=c=>i===o.current&&r($=>({...$,asking:!1,...c}));if(!e)return;r(c=>({...c,asking:!0}));let u=setTimeout(()=>yn(e,t).then(l,c=>l({problem:c})),hn);return()=>{clearTimeout(u),o.current+=1}},[a]),n}async function yn(e,t){let n=await k("schedules/preview",{rule:e,exclude:t});return{rule:e,answer:n,problem:null,changes:e.type==="cron"&&U(e.timezone)?await Fe(e,t):[]}}async function Fe(e,t){let n=pe(r=>R(r,e.timezone),w());return Promise.all(n.map(async r=>{let o=new Date(r.at-St).toISOString(),{fire_times:a,daylight_saving:i}=await k("schedules/preview",{rule:e,exclude:t,after:o,count:100}),l=r.at+St;return{...r,next:a.find(u=>Date.parse(u)>=r.at)??null,notes:i.filter(({at:u})=>Date.parse(u)<=l)}}))}function Se({preview:e}){let{rule:t,answer:n,problem:r,changes:o,asking:a}=e,i=U(t?.timezone)?t.timezone:null;return r&&!r.errors?.length?s`<${L} problem=${r} />`:n?s`
    <div class=${`panel ${r?"outdated":""}`} aria-busy=${a}>
      <div class="head"><h2>Next ${n.fire_times.length===1?"run":`${n.fire_times.length} runs`}</h2><span class="in-words">${n.description}</span></div>
      <div class="body">
        ${n.fire_times.length?s`<${$e} times=${n.fire_times} notes=${n.daylight_saving} timezone=${i} caption="The next fire times" />`:s`<p class="quiet">This rule never fires.</p>`}
      </div>
    </div>
    ${o.length>0&&!r&&s`<div class="panel">
      <div class="head"><h2>When the clock changes</h2></div>
      <div class="body"><${fe} changes=${o} timezone=${i} fixed=${ke(t)} /></div>
    </div>`}`:a?s`<${me} />`:s`<${x} icon="alert" tone="amber">This rule cannot be read yet.</${x}>`}var Ot={expression:"e",timezone:"zone",gap:"gap",overlap:"twice",seconds:"seconds",days:"days"},_t=e=>Object.fromEntries(Object.entries(Ot).map(([t,n])=>[n,e[t]]));function Me(e){return e.has("e")?Object.fromEntries(Object.entries(Ot).map(([t,n])=>[t,e.get(n)??(t==="timezone"?"UTC":"")])):null}var Pe=()=>({...wt,timezone:W.peek()});function vn(){let e=Me(y.value)??Pe(),t=we(ae(e));return s`
    <div class="page-head"><h1>Cron builder</h1>
      ${C("operate")&&s`<div class="actions"><a class="button primary" href=${d("/schedules/new",_t(e))}>Create a schedule of it</a></div>`}
    </div>
    <div class="stack">
      <div class="panel"><div class="body">
        <${xe} value=${e} problem=${t.problem} onChange=${n=>at(_t(n),{replace:!0})} />
      </div></div>
      <${Se} preview=${t} />
      <div class="same"><span class="quiet">The same on the command line</span><${de} text=${bn(e)} /></div>
    </div>`}function bn({expression:e,timezone:t,gap:n,overlap:r,seconds:o,days:a}){let i=[t&&t!=="UTC"&&`--tz ${t}`,n&&`--gap ${n}`,r&&`--dst-overlap ${r}`,o&&`--seconds ${o}`,a&&`--days ${a}`];return["duetime cron",gn(e),...i.filter(Boolean)].join(" ")}var gn=e=>`'${e.replaceAll("'","'\\''")}'`;var _e={seconds:1,minutes:60,hours:3600,days:86400},Le={name:"",namespace:"default",kind:"cron",cron:null,every:"15",unit:"minutes",anchor:"",rules:"",type:"python",handler:"",url:"",method:"POST",target:"",payload:"null",priority:"medium",overlap:"skip",policy:"run_once",grace:"60",jitter:"0",max_runs:"",pause_on_failure:"",dates:"",kept:{}},Ct="\0payload\0";function Nt(e,t){ze("task.payload",e.payload);let{task:n={},misfire:r={},exclude:o=[],...a}=e.kept,i={...a,name:e.name.trim()||null,...je(e,t),exclude:[...o,...kn(e)],task:{...n,namespace:e.namespace.trim()||"default",priority:e.priority,target:xn(e),payload:Ct},overlap:e.overlap,misfire:{...r,policy:e.policy,grace:ie(e.grace,60)},jitter:ie(e.jitter,0),max_runs:ie(e.max_runs,null),pause_on_failure:ie(e.pause_on_failure,null)};return JSON.stringify(i,null,2).replace(JSON.stringify(Ct),()=>e.payload.trim())}function je({kind:e,cron:t,every:n,unit:r,anchor:o,rules:a},i){let l=ie(n,0),u=typeof l=="number"?l*_e[r]:l;if(e==="cron")return{rule:i(t)};if(e==="rate")return{rule:{type:"rate",every:u,...o&&{anchor:o}}};if(e==="delay")return{rule:{type:"delay",delay:u}};let c=ze("rules",a);return Array.isArray(c)?{rules:c}:{rule:c}}function kn({dates:e,kind:t,cron:n}){let r=e.split(/[\s,;]+/).filter(Boolean);return r.length?[{type:"dates",dates:r,timezone:t==="cron"&&n.timezone||"UTC"}]:[]}function xn({type:e,handler:t,url:n,method:r,target:o,kept:a}){let i=a.task?.target?.type===e?a.task.target:{};return e==="python"?{...i,type:e,handler:t.trim()}:e==="http"?{...i,type:e,url:n.trim(),method:r}:ze("task.target",o)}function ze(e,t){try{return JSON.parse(t)}catch(n){throw Object.assign(new SyntaxError(`is not JSON: ${n.message}`),{field:e})}}function ie(e,t){let n=e.trim();return n?Number.isFinite(Number(n))?Number(n):n:t}function Et(e,t,n){let{task:r,misfire:o,exclude:a}=e,{target:i}=r,l=i.type==="http"&&typeof i.url=="string",u=i.type==="python"?"python":l?"http":"json",c=a.filter(b=>b.type==="dates"),$=c.length===1&&c[0].timezone===(e.rule?.timezone??"UTC")?c:[],{starts_at:Q,ends_at:P}=e;return{...Le,name:e.name??"",namespace:r.namespace,...wn(e,n),type:u,handler:i.handler??"",url:l?i.url:"",method:i.method??"POST",target:JSON.stringify(i,null,2),payload:t,priority:r.priority,overlap:e.overlap,policy:o.policy,grace:String(o.grace),jitter:String(e.jitter),max_runs:String(e.max_runs??""),pause_on_failure:String(e.pause_on_failure??""),dates:$.flatMap(b=>b.dates).join(", "),kept:{starts_at:Q,ends_at:P,task:r,misfire:o,exclude:a.filter(b=>!$.includes(b))}}}function wn({rule:e,rules:t},n){return e?.type==="cron"?{kind:"cron",cron:n(e)}:e?.type==="rate"?{kind:"rate",...Tt(e.every),anchor:e.anchor}:e?.type==="delay"?{kind:"delay",...Tt(e.delay)}:{kind:"json",rules:JSON.stringify(t??e,null,2)}}function Tt(e){let[t,n]=Object.entries(_e).reverse().find(([,r])=>e%r===0)??["seconds",1];return{every:String(e/n),unit:t}}var Sn=["name","rule","rules","exclude","task","starts_at","ends_at","max_runs","jitter","misfire","overlap","pause_on_failure"],_n=({source:e})=>rt({...e,entries:e.entries.filter(([t])=>Sn.includes(t))}),At=e=>M(e*1e3);function Dt({schedule:e}){let{misfire:t,task:n}=e,r=[["Rule",e.description],["Target",s`<code>${tt(n.target)}</code>`],["If the previous run is not over",We[e.overlap]??e.overlap],["If a run cannot start in time",`${Ue[t.policy]??t.policy}; in time is within ${At(t.grace)}`],["Jitter",e.jitter?`up to ${At(e.jitter)}`:"none"],["Excluded",e.exclude.length?e.exclude.map(o=>o.dates?o.dates.join(", "):o.expression).join("; "):"nothing"],["From",s`<${O} at=${e.starts_at} as="full" none="the beginning" />`],["Until",s`<${O} at=${e.ends_at} as="full" none="no end" />`],["Runs at most",e.max_runs??"any number"],["Pauses after",e.pause_on_failure?`${e.pause_on_failure} dead runs in a row`:"never"],["Version",e.version],["Created",s`<${O} at=${e.created_at} as="full" />`],["Changed",s`<${O} at=${e.updated_at} as="full" />`]];return s`
    <div class="grid">
      <div class="panel"><div class="body"><dl class="facts">${r.map(([o,a])=>s`<dt key=${o}>${o}</dt><dd>${a}</dd>`)}</dl></div></div>
      <div class="panel"><div class="body"><${ct} text=${_n(e)} name="definition" /></div></div>
    </div>`}var We={skip:"skip the new run",queue:"wait for it",cancel:"cancel the previous run",allow:"run beside it"},Ue={run_once:"run the latest missed one",run_all:"run all that were missed",skip:"run none of them"};var On=[["python","Python handler"],["http","HTTP call"],["json","other, as JSON"]],Cn=["POST","GET","PUT","PATCH","DELETE"].map(e=>[e,e]);function Rt({form:e,change:t,problem:n}){return s`
    <div class="form">
      <${q} label="A run" value=${e.type} options=${On} onChange=${r=>t({type:r})} />
      ${e.type==="python"&&s`<${Tn} value=${e.handler} onChange=${r=>t({handler:r})} error=${p(n,"task.target")} />`}
      ${e.type==="http"&&s`<div class="fields http">
        <${m} label="Method" value=${e.method} options=${Cn} onChange=${r=>t({method:r})} error=${p(n,"task.target.method")} />
        <${v} label="URL" value=${e.url} onChange=${r=>t({url:r})} placeholder="https://…" maxlength="8192" error=${p(n,"task.target.url","task.target")} />
      </div>`}
      ${e.type==="json"&&s`<${Oe} label="Target" value=${e.target} onChange=${r=>t({target:r})} error=${p(n,"task.target")} hint="sqs, sns, eventbridge, lambda, stepfunctions, dynamodb, sql, email or workflow" />`}
      <${Oe} label="Payload" value=${e.payload} onChange=${r=>t({payload:r})} error=${p(n,"task.payload")} hint=${s`JSON; <code>${'"{{scheduled_for}}"'}</code> becomes the fire time`} />
    </div>`}function Oe({label:e,value:t,onChange:n,error:r,hint:o}){return s`<${Ne} label=${e} error=${r} hint=${o}>${a=>s`
    <textarea ...${a} rows="4" spellcheck=${!1} value=${t} onInput=${({currentTarget:i})=>n(i.value)} />`}</${Ne}>`}function Tn({value:e,onChange:t,error:n}){let r=re(),[o,a]=h([]);return N(()=>{le("handlers",{}).then(({items:i})=>a(i.map(({name:l})=>l)),()=>a([]))},[]),s`
    <${v} label="Handler" value=${e} onChange=${t} error=${n} list=${`${r}-names`} placeholder="reports.daily" maxlength="256" />
    <datalist id=${`${r}-names`}>${o.map(i=>s`<option key=${i} value=${i} />`)}</datalist>`}var Nn=[["cron","at times of day"],["rate","at an interval"],["delay","after each run"],["json","as JSON"]],En=["high","medium","low"].map(e=>[e,e]),It=e=>Object.entries(e);function An(){let[e]=h(()=>({...Le,namespace:y.peek().get("ns")||"default",cron:Me(y.peek())??Pe()}));return s`<${Ft} title="New schedule" action="Create" initial=${e} save=${t=>k("schedules",t)} />`}function Dn({id:e}){let t=z(`schedules/${e}`,{},{load:he,again:!1});return s`<${T} read=${t}>${n=>s`
    <${Ft} title=${`Change ${n.name||"the schedule"}`} action="Save" stays save=${r=>Qe(`schedules/${e}`,r)}
      initial=${Et(n,mt(n,"task.payload"),Rn)} />`}</${T}>`}var Rn=({expression:e,timezone:t,dst:n={},seconds:r="",days:o=""})=>({expression:e,timezone:t,gap:n.gap??"",overlap:n.overlap??"",seconds:r,days:o});function Ft({title:e,action:t,initial:n,save:r,stays:o=!1}){let[a,i]=h(n),[l,u]=h({busy:!1,problem:null}),c=g=>i(X=>({...X,...g})),{rule:$,broken:Q}=In(a),P=we($),{body:b,problem:I}=Fn(a),F=l.problem??I;return s`
    <form class="schedule-form" onSubmit=${async g=>{if(g.preventDefault(),I){u({busy:!1,problem:I});return}u({busy:!0,problem:null});try{let X=await r(b);E(t==="Create"?"Created":"Saved"),te(d(`/schedules/${X.id}`))}catch(X){u({busy:!1,problem:X})}}} onInput=${()=>l.problem&&u({busy:!1,problem:null})}>
      <div class="page-head"><h1>${e}</h1></div>
      <div class="split even">
        <div class="stack">
          <section class="panel"><div class="head"><h2>When</h2></div><div class="body form">
            <${q} label="It fires" unseen value=${a.kind} options=${Nn} onChange=${g=>c({kind:g})} />
            <${Mn} form=${a} change=${c} problem=${Q??P.problem??F} />
          </div></section>
          <section class="panel"><div class="head"><h2>What</h2></div><div class="body"><${Rt} form=${a} change=${c} problem=${F} /></div></section>
          <section class="panel"><div class="head"><h2>What if</h2></div><div class="body"><${Pn} form=${a} change=${c} problem=${F} /></div></section>
        </div>
        <div class="stack">
          <section class="panel"><div class="body form">
            <div class="fields">
              <${v} label="Name" value=${a.name} onChange=${g=>c({name:g})} maxlength="256" placeholder="daily-report" error=${p(F,"name")} />
              <${v} label="Namespace" value=${a.namespace} onChange=${g=>c({namespace:g})} maxlength="128" disabled=${o} error=${p(F,"task.namespace")} />
              <${m} label="Priority" value=${a.priority} options=${En} onChange=${g=>c({priority:g})} />
            </div>
            <${L} problem=${l.problem} />
            <div class="row">${C("operate")&&s`<button class="primary" type="submit" disabled=${l.busy}>${t}</button>`}<a class="button" href=${d("/schedules")}>Back</a></div>
          </div></section>
          <${Se} preview=${P} />
          ${b&&t==="Create"&&s`<details class="same"><summary>The same with curl</summary><${de} text=${Ln(b)} /></details>`}
        </div>
      </div>
    </form>`}function In(e){try{let{rule:t,rules:n}=je(e,ae);return{rule:t??n?.[0]??null,broken:null}}catch(t){return{rule:null,broken:Mt(t)}}}function Fn(e){try{return{body:Nt(e,ae),problem:null}}catch(t){return{body:null,problem:Mt(t)}}}var Mt=({field:e,message:t})=>({title:"The form is not complete",errors:[{field:e,message:t}]});function Mn({form:e,change:t,problem:n}){if(e.kind==="cron")return s`<${xe} value=${e.cron} onChange=${o=>t({cron:o})} problem=${n} />`;if(e.kind==="json")return s`<${Oe} label="Rule, or a list of rules" value=${e.rules} onChange=${o=>t({rules:o})} error=${p(n,"rule","rules")}
      hint=${s`such as <code>${'{"type": "cron", "expression": "0 9 * * *", "timezone": "Europe/Berlin"}'}</code>`} />`;let r=p(n,"rule");return s`
    <div class="fields">
      <${v} label=${e.kind==="rate"?"Every":"After"} type="number" min="1" step="any" value=${e.every} onChange=${o=>t({every:o})} error=${r} />
      <${m} label="Unit" value=${e.unit} options=${Object.keys(_e).map(o=>[o,o])} onChange=${o=>t({unit:o})} />
    </div>
    <p class="quiet">${e.kind==="rate"?"Counted from when the schedule is created, however long a run takes.":"Counted from the end of the previous run, whether it succeeded or not."}</p>`}function Pn({form:e,change:t,problem:n}){let r=(o,a,i={})=>s`
    <${v} label=${a} type="number" min="0" step="any" value=${e[o]} onChange=${l=>t({[o]:l})} error=${p(n,i.field??o)} ...${i} />`;return s`
    <div class="form">
      <div class="fields">
        <${m} label="The previous run is not over" value=${e.overlap} options=${It(We)} onChange=${o=>t({overlap:o})} error=${p(n,"overlap")} />
        <${m} label="A run cannot start in time" value=${e.policy} options=${It(Ue)} onChange=${o=>t({policy:o})} error=${p(n,"misfire.policy")} />
      </div>
      <details><summary>More</summary><div class="fields more-fields">
        ${r("grace","In time is within (seconds)",{field:"misfire.grace"})}
        ${r("jitter","Spread starts over (seconds)")}
        ${r("max_runs","Runs at most",{placeholder:"any number"})}
        ${r("pause_on_failure","Pause after dead runs in a row",{placeholder:"never"})}
        <${v} label="Not on these dates" value=${e.dates} onChange=${o=>t({dates:o})} placeholder="2026-12-24, 2026-12-25" error=${p(n,"exclude")} />
      </div></details>
    </div>`}var Ln=e=>`curl ${window.location.origin}/v1/schedules -H 'content-type: application/json' -d '${e.replaceAll("'","'\\''")}'`;function Pt(e){let t=qe(`${e}-01`),n=qe(`${Ce(e,1)}-01`),r=Array(jn(t)).fill(null);for(let o=t;o<n;o+=1)r.push(jt(o));for(;r.length%7;)r.push(null);return Array.from({length:r.length/7},(o,a)=>r.slice(a*7,a*7+7))}function Ce(e,t){let[n,r]=e.split("-").map(Number),o=n*12+r-1+t;return`${String(Math.floor(o/12)).padStart(4,"0")}-${String(o%12+1).padStart(2,"0")}`}function Lt(e,t){let n=qe(e);return Array.from({length:t},(r,o)=>jt(n-t+1+o))}var qe=e=>Date.parse(`${e}T00:00:00Z`)/864e5,jt=e=>new Date(e*864e5).toISOString().slice(0,10),jn=e=>(e+3)%7;function zt({ledger:e,upcoming:t,notes:n,exclude:r,dayOf:o,stateOf:a}){let i=new Map,l=u=>(i.has(u)||i.set(u,{items:[],excluded:!1,notes:[]}),i.get(u));for(let u of e)l(o(u.fire_time)).items.push({at:u.fire_time,state:a(u),row:u});for(let u of t)l(o(u)).items.push({at:u,state:"to_come"});for(let u of n)l(o(u.at)).notes.push(u);for(let{dates:u=[]}of r)for(let c of u)l(c).excluded=!0;for(let{items:u}of i.values())u.sort((c,$)=>Date.parse(c.at)-Date.parse($.at));return i}var zn=1e3,f={broken:{icon:"cross",tone:"red",word:"broken"},dead:{icon:"alert",tone:"red",word:"dead"},missed:{icon:"timeout",tone:"amber",word:"missed"},skipped:{icon:"forward",tone:"amber",word:"skipped"},paused:{icon:"pause",tone:"amber",word:"paused"},late:{icon:"hourglass",tone:"amber",word:"late"},fired:{icon:"check",tone:"green",word:"fired"},to_come:{icon:"dot",tone:"grey",word:"to come"}},Wt=Object.keys(f),Wn={skipped_overlap:"skipped",skipped_misfire:"missed",paused:"paused",broken:"broken"};function Z(e){return e.outcome!=="fired"?Wn[e.outcome]??"broken":e.task_status==="DEAD"?"dead":e.late_ms>zn?"late":"fired"}function Be(e){let t=new Map;for(let n of e)t.set(Z(n),(t.get(Z(n))??0)+1);return Wt.filter(n=>t.has(n)).reverse().map(n=>[n,t.get(n)])}function Ut(e,t,n,r=30){let o=Un(e,n);return Lt(t,r).map(a=>{let i=Be(o.get(a)??[]),l=Wt.find(u=>i.some(([c])=>c===u))??null;return{day:a,state:l,counts:i}})}function Un(e,t){let n=new Map;for(let r of e){let o=t(r.fire_time);n.has(o)||n.set(o,[]),n.get(o).push(r)}return n}var G=e=>e.map(([t,n])=>`${n} ${f[t].word}`).join(", ");var qt=e=>e.rules??[e.rule];function Je(e){let t=new Set(qt(e).filter(({type:r})=>r==="cron").map(({timezone:r})=>r)),[n]=t;return t.size===1&&U(n)?n:null}function Bt({schedule:e}){let t=z(`schedules/${e.id}/upcoming`,{count:10}),n=Je(e);return s`
    <div class="stack">
      <div class="panel"><div class="head"><h2>Next</h2></div>
        <div class="body"><${T} read=${t}>${({fire_times:r,daylight_saving:o})=>r.length?s`<${$e} times=${r} notes=${o} timezone=${n} caption="The next fire times" />`:s`<p class="quiet">${qn[e.status]??"It does not fire any more."}</p>`}</${T}></div>
      </div>
      ${n&&s`<${Bn} schedule=${e} zone=${n} />`}
    </div>`}var qn={paused:"It is paused, and does not fire until it is resumed.",broken:"Its rule cannot be read."};function Bn({schedule:e,zone:t}){let n=qt(e).find(({type:a})=>a==="cron"),[r,o]=h([]);return N(()=>{let a=!0;return Fe(n,e.exclude).then(i=>a&&o(i),()=>a&&o([])),()=>a=!1},[e.id,e.version]),r.length?s`<div class="panel"><div class="head"><h2>When the clock changes</h2></div>
    <div class="body"><${fe} changes=${r} timezone=${t} fixed=${ke(n)} /></div></div>`:null}var Jn=100,He=({state:e})=>s`<span class=${`mark tone-${f[e].tone}`}><${S} name=${f[e].icon} />${f[e].word}</span>`,Hn=[{id:"fire_time",head:"Fire time",class:"main",cell:e=>s`<${J} at=${e.fire_time} />${e.backfill&&s` <span class="quiet">backfill</span>`}`},{id:"outcome",head:"Outcome",class:"bare",cell:e=>s`<${He} state=${Z(e)} />`},{id:"late",head:"Late by",class:"number",cell:e=>e.late_ms===null||e.late_ms===void 0?"":M(e.late_ms)},{id:"task",head:"Run",cell:e=>e.task_id&&s`<a href=${d(`/tasks/${e.task_id}`)} aria-label=${`Run ${e.task_id}`}>${e.task_status?s`<${D} status=${e.task_status} />`:"open"}</a>`},{id:"why",head:"Why",cell:e=>Vn(e)}],Yn={skipped_overlap:"the previous run was still running",skipped_misfire:"it could not start in time",paused:"the schedule was paused"},Vn=({outcome:e,error:t,reason:n})=>t??Yn[e]??n??"";function Jt({schedule:e}){let t=H(`schedules/${e.id}/ledger`,{limit:Jn},({fire_time:a,task_id:i})=>`${a} ${i??""}`),{keys:n,list:r}=t.rows,o=n.value.length?r():[];return s`
    <div class="split">
      <div class="stack">
        ${o.length>0&&s`<${Kn} rows=${o} whole=${!t.more} />`}
        <${Y} list=${t} columns=${Hn} caption="What became of each fire time"
          empty=${s`<${_} title="No fire time has passed yet">The next ones are beside this list.</${_}>`} />
      </div>
      <${Bt} schedule=${e} />
    </div>`}function Kn({rows:e,whole:t}){let n=Ut(e,B(w()),a=>B(a,W.value)),r=G(Be(e)),o=`The last 30 days: ${r}`;return s`
    <figure class="ledger-strip">
      <figcaption><strong>${r}</strong> <span class="quiet">${t?"in 90 days":`in the last ${ue(e.length,"fire time")}`}; below, the last 30 days</span></figcaption>
      <svg viewBox="0 0 300 22" preserveAspectRatio="none" role="img" aria-label=${o}><title>${o}</title>
        ${n.map(({day:a,state:i,counts:l},u)=>s`
          <g key=${a} class=${i?`tone-${f[i].tone}`:"none"}><title>${`${a}: ${G(l)||"none"}`}</title>
            <rect x=${u*10+1} width="8" y=${i&&i!=="fired"?0:5} height=${i&&i!=="fired"?22:17} rx="1.5" /></g>`)}
      </svg>
      <${st} head=${["day","fire times"]} rows=${n.filter(({state:a})=>a).map(({day:a,counts:i})=>[a,G(i)])} />
    </figure>`}var Zn=["Monday","Tuesday","Wednesday","Thursday","Friday","Saturday","Sunday"],Gn=["January","February","March","April","May","June","July","August","September","October","November","December"],Qn=3,Xn=5,Ye=100;function Yt({schedule:e}){let t=Je(e)??W.value,n=B(ce.value,t),r=/^\d{4}-\d\d$/.test(y.value.get("month")??"")?y.value.get("month"):n.slice(0,7),{days:o,cut:a,problem:i}=rr(e,r,t),l=`${Gn[Number(r.slice(5))-1]} ${r.slice(0,4)}`,u=c=>A({month:Ce(r,c)});return s`
    <div class="stack">
      <div class="row calendar-head">
        <a class="button small" href=${u(-1)} aria-label="Previous month"><${S} name="back" /></a>
        <h2 aria-live="polite">${l}</h2>
        <a class="button small" href=${u(1)} aria-label="Next month"><${S} name="forward" /></a>
        ${r!==n.slice(0,7)&&s`<a href=${A({month:""})}>this month</a>`}
        <span class="quiet">days and times of ${t}</span>
      </div>
      <${L} problem=${i} />
      ${o?s`<${er} month=${r} name=${l} days=${o} today=${n} zone=${t} />`:!i&&s`<${me} />`}
      ${a&&s`<${x} icon="alert" tone="amber">There are more fire times in this month than the calendar reads.</${x}>`}
      <p class="legend">${Object.keys(f).reverse().map(c=>s`<${He} key=${c} state=${c} />`)}<${Vt} /><span class="mark tone-amber"><${S} name="clock" />the clock changes</span></p>
    </div>`}function er({month:e,name:t,days:n,today:r,zone:o}){return s`
    <table class="calendar">
      <caption class="unseen">${t}</caption>
      <thead><tr>${Zn.map(a=>s`<th key=${a} scope="col"><abbr title=${a}>${a.slice(0,2)}</abbr></th>`)}</tr></thead>
      <tbody>${Pt(e).map((a,i)=>s`<tr key=${i}>${a.map((l,u)=>s`
        <td key=${l??u} class=${`${l?"":"outside"} ${l===r?"today":""}`}>${l&&s`<${tr} day=${l} known=${n.get(l)} zone=${o} isToday=${l===r} />`}</td>`)}</tr>`)}</tbody>
    </table>`}function tr({day:e,known:t,zone:n,isToday:r}){let o=t?.items??[];return s`
    <span class="day-number">${r?s`<span class="unseen">today, </span>`:""}${Number(e.slice(8))}</span>
    ${t?.excluded&&s`<${Vt} />`}
    ${t?.notes.length>0&&s`<span class="mark tone-amber" title=${Ht(t)}><${S} name="clock" /><span class="unseen">${Ht(t)}</span></span>`}
    ${o.length>Qn?s`<${nr} items=${o} />`:o.map(({at:a,state:i})=>s`
      <span key=${a} class=${`fire tone-${f[i].tone}`} title=${f[i].word}><${S} name=${f[i].icon} /><span class="unseen">${f[i].word} </span><span class="clock"><${J} at=${a} timezone=${n} day=${!1} /></span></span>`)}`}var Ht=({notes:e})=>e.map(({note:t})=>t).join("; "),Vt=()=>s`<span class="mark tone-grey"><${S} name="slash" /><span class="word">excluded</span></span>`;function nr({items:e}){let t=Object.keys(f).map(n=>[n,e.filter(r=>r.state===n).length]).filter(([,n])=>n);return s`<span class="fires" title=${G(t)}>${t.map(([n,r])=>s`
    <span key=${n} class=${`fire tone-${f[n].tone}`}><${S} name=${f[n].icon} />${r}<span class="unseen"> ${f[n].word}</span></span>`)}</span>`}function rr(e,t,n){let[r,o]=h({}),a=[e.id,e.version,t,n].join(" ");return N(()=>{let i=!0,l=u=>i&&o({key:a,...u});return or(e,t,n).then(l,u=>l({problem:u})),()=>i=!1},[a]),r.key===a?r:{}}async function or(e,t,n){let r=oe(`${t}-01T00:00`,u=>R(u,n)),o=oe(`${Ce(t,1)}-01T00:00`,u=>R(u,n)),[a,i]=await Promise.all([ar(e,r,o),ir(e,r,o)]);return{days:zt({ledger:a.rows,upcoming:i.times,notes:[...i.notes,...sr(r,o,n)],exclude:e.exclude,dayOf:u=>B(u,n),stateOf:Z}),cut:a.cut||i.cut}}function sr(e,t,n){return pe(r=>R(r,n),e,2,31).filter(({at:r})=>r<t).map(r=>{let[o,a]=dt(r);return{at:new Date(r.at).toISOString(),note:`the clock goes from ${o} to ${a}`}})}async function ar(e,t,n){let r=[];if(t>w())return{rows:r,cut:!1};let o;for(let i=0;i<Xn;i+=1){let{items:l,next_cursor:u}=await le(`schedules/${e.id}/ledger`,{limit:Ye,cursor:o});if(r.push(...l),o=u,!u||Date.parse(l.at(-1).fire_time)<t)break}return{rows:r.filter(({fire_time:i})=>Date.parse(i)>=t&&Date.parse(i)<n),cut:!!o&&Date.parse(r.at(-1).fire_time)>=t}}async function ir(e,t,n){let r=Math.max(t-1,w(),e.starts_at?Date.parse(e.starts_at)-1:0),o=Math.min(n,e.ends_at?Date.parse(e.ends_at):1/0);if(e.status!=="active"||r>=o)return{times:[],notes:[],cut:!1};let i={...e.rules?{rules:e.rules}:{rule:e.rule},exclude:e.exclude,after:new Date(r).toISOString(),count:Ye},{fire_times:l,daylight_saving:u}=await k("schedules/preview",i),c=$=>Date.parse($)<o;return{times:l.filter(c),notes:u.filter(({at:$})=>c($)),cut:l.length===Ye&&c(l.at(-1))}}var lr=864e5;function Kt({schedule:e,onChange:t}){let{id:n,status:r}=e,o=e.origin==="code",a=async(I,F,Ge)=>{await k(`schedules/${n}/${I}`,F),E(Ge),await t()},i=ee(null),l=()=>i.current.value.trim()?{note:i.current.value.trim()}:{},u=()=>j({title:"Pause this schedule?",text:s`<p>No run starts until it is resumed. Fire times until then are in the ledger as paused; runs that have started go on.</p>
      <label class="field"><span>Note</span><input ref=${i} maxlength="256" placeholder="why, and who" /></label>`,action:"Pause",run:()=>a("pause",l(),"Paused")}),c=()=>ur(()=>a("resume",{},"Resumed")),$=()=>j({title:"Run it once, now?",text:s`<p>The run is outside of the rule. It waits if runs must not overlap, and it runs while the schedule is paused.</p>`,action:"Run now",run:async()=>{let I=await k(`schedules/${n}/trigger`,{});E("Submitted"),te(d(`/tasks/${I.id}`))}}),Q=()=>j({title:"Detach it from the code?",text:s`<p>It becomes an ordinary schedule, which can be changed and deleted here. The code no longer changes it.</p>`,action:"Detach",run:()=>a("detach",{},"Detached")}),P=()=>j({title:`Delete ${e.name||"this schedule"}?`,text:s`<p>Its ledger is deleted too, and runs that have not started are cancelled.</p>`,action:"Delete",danger:!0,run:async()=>{await Xe(`schedules/${n}`),E("Deleted"),te(d("/schedules"))}}),b=cr(e);return s`
    ${r==="active"&&s`<button onClick=${u}>Pause…</button>`}
    ${["paused","broken"].includes(r)&&s`<button class="primary" onClick=${c}>Resume</button>`}
    <button onClick=${$}>Run now…</button>
    ${e.rule?.type!=="delay"&&s`<button onClick=${b}>Backfill…</button>`}
    ${o?s`<button onClick=${Q}>Detach…</button>`:s`
      <a class="button" href=${d(`/schedules/${n}/edit`)}>Change</a>
      <button onClick=${P}>Delete…</button>`}`}async function ur(e){try{await e()}catch(t){E(t.message,"red")}}function cr({id:e,overlap:t}){let n=ee(null);return()=>{let r=a=>new Date(oe(a,i=>R(i))).toISOString(),o=a=>n.current.elements[a].value;return j({title:"Run the fire times of a span",text:s`
        <p>Each fire time of the rule in it runs, in order. Times are in ${it.value}.</p>
        <form ref=${n} class="fields" onSubmit=${a=>a.preventDefault()}>
          <label class="field"><span>From</span><input type="datetime-local" name="from" defaultValue=${Te(w()-lr)} /></label>
          <label class="field"><span>Until</span><input type="datetime-local" name="to" defaultValue=${Te(w())} /></label>
          <label class="field"><span>Runs</span><select name="overlap">
            <option value="">as the schedule: ${t}</option><option value="allow">side by side</option><option value="queue">one after another</option></select></label>
          <label class="field"><span>At most a minute</span><input type="number" name="per_minute" min="1" max="6000" defaultValue="60" /></label>
        </form>`,action:"Backfill",run:async()=>{let{fire_times:a}=await k(`schedules/${e}/backfill`,{from:r(o("from")),to:r(o("to")),per_minute:Number(o("per_minute")),...o("overlap")&&{overlap:o("overlap")}});E(`${ue(a,"fire time")} will run`)}})}}var dr=[{id:"status",head:"Status",class:"bare",cell:e=>s`<${D} status=${e.status} />`},{id:"for",head:"Scheduled for",class:"main",cell:e=>s`<a href=${d(`/tasks/${e.id}`)}>${e.scheduled_for?s`<${J} at=${e.scheduled_for} />`:"run by hand"}</a>`},{id:"started",head:"Started",cell:e=>s`<${O} at=${e.started_at} />`},{id:"drift",head:"Drift",class:"number",cell:e=>M(e.drift_ms)},{id:"took",head:"Took",class:"number",cell:e=>e.started_at&&e.finished_at?M(Date.parse(e.finished_at)-Date.parse(e.started_at)):"–"},{id:"attempt",head:"Attempt",class:"number",cell:e=>nt(e.attempt,e.max_attempts)},{id:"error",head:"Error",cell:e=>e.error?.type??e.reason??""}];function Zt({schedule:e}){let t=H("tasks",{schedule_id:e.id,namespace:e.task.namespace,fields:"summary"});return s`<${Y} list=${t} columns=${dr} caption="Runs of this schedule" href=${({id:n})=>d(`/tasks/${n}`)}
    empty=${s`<${_} title="It has not run yet" />`} />`}var mr=["active","paused","broken","finished"],pr="duetime schedules create --cron '0 9 * * 1-5' --tz Europe/Berlin --handler duetime.hello --name daily",$r=[{id:"status",head:"Status",class:"bare",cell:e=>s`<${D} status=${e.status} />`},{id:"name",head:"Name",class:"main",cell:e=>s`<${yr} schedule=${e} />`},{id:"next",head:"Next",cell:e=>s`<${vr} schedule=${e} />`},{id:"last",head:"Last",cell:e=>s`<${O} at=${e.last_fired_at} none="not yet" />`},{id:"runs",head:"Runs",class:"number",cell:e=>et(e.runs)},{id:"origin",head:"Origin",cell:e=>s`<${Ke} schedule=${e} />`}];function fr(){let e=y.value.get("status")??"",t=y.value.get("ns")||"default",n=H("schedules",{namespace:t,status:e});return s`
    <div class="page-head"><h1>Schedules</h1><${ne} title="The list has the schedules of one namespace">namespace ${t}</${ne}>
      <div class="actions">
        <a class="button" href=${d("/cron")}>Cron builder</a>
        ${C("operate")&&s`<a class="button primary" href=${d("/schedules/new")}>New schedule</a>`}
      </div>
    </div>
    <nav class="chips list-chips" aria-label="Status">
      ${["",...mr].map(r=>s`<a key=${r} href=${A({status:r})} aria-current=${e===r?"true":void 0}>${r||"all"}</a>`)}
    </nav>
    <${Y} list=${n} columns=${$r} caption="Schedules" href=${({id:r})=>d(`/schedules/${r}`)}
      empty=${s`<${hr} status=${e} namespace=${t} />`} />`}function hr({status:e,namespace:t}){return e?s`<${_} title=${`No schedule of ${t} is ${e}`}><a href=${A({status:""})}>Show all</a></${_}>`:s`<${_} title=${`No schedules in the namespace ${t}`} command=${pr}>
    ${C("operate")&&s`<a href=${d("/schedules/new")}>Build one</a>, or type:`}</${_}>`}var Ve=({name:e,id:t})=>e||t;function yr({schedule:e}){return s`<a href=${d(`/schedules/${e.id}`)}>${Ve(e)}</a><span class="sub">${e.description??"its rule cannot be read"}</span>`}function vr({schedule:e}){if(e.next_fire_at)return s`<${O} at=${e.next_fire_at} /><span class="sub">${ut(e.next_fire_at,ce.value)}</span>`;let t=e.last_error??e.note;return s`<span class="quiet">–</span>${t&&s`<span class="sub">${t}</span>`}`}function Ke({schedule:e}){return e.origin!=="code"?s`<span class="quiet">API</span>`:s`<${ne} tone="violet" title=${`declared by ${e.app}`}>code</${ne}> <code class="source">${e.source}</code>`}var Ze={ledger:Jt,calendar:Yt,history:Zt,definition:Dt};function br({id:e}){let t=z(`schedules/${e}`,{},{load:he});return s`<${T} read=${t}>${n=>s`<${gr} schedule=${n} reload=${t.reload} />`}</${T}>`}function gr({schedule:e,reload:t}){let n=Object.hasOwn(Ze,y.value.get("view")??"")?y.value.get("view"):"ledger";return s`
    <div class="page-head">
      <${D} status=${e.status} /><h1>${Ve(e)}</h1>
      ${C("operate")&&s`<div class="actions"><${Kt} schedule=${e} onChange=${t} /></div>`}
      <p class="subline"><span>${e.description??"Its rule cannot be read"}</span>
        <span class="quiet">namespace ${e.task.namespace}</span>
        <${Ke} schedule=${e} />
        <span class="quiet"><code>${e.id}</code><${ot} text=${e.id} name="id" /></span></p>
    </div>
    ${e.status==="paused"&&s`<${x} tone="amber" icon="pause">Paused${e.note?`: ${e.note}`:", without a note"}</${x}>`}
    ${e.last_error&&s`<${x} tone="red" icon="alert">${e.last_error}</${x}>`}
    <nav class="tabs" aria-label="Views">${Object.keys(Ze).map(r=>s`
      <a key=${r} href=${A({view:r==="ledger"?"":r,month:""})} aria-current=${n===r?"page":void 0}>${kr(r)}</a>`)}</nav>
    <${Ze[n]} key=${n} schedule=${e} />`}var kr=e=>e[0].toUpperCase()+e.slice(1);export{vn as Cron,Dn as EditSchedule,An as NewSchedule,br as Schedule,fr as Schedules};
