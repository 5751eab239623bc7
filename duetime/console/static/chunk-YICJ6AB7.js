import{Aa as u,Ba as T,Ea as i,Ia as h,J as x,Ja as k,La as v,U as f,b as g,i as $}from"./chunk-DOORRIRL.js";var N=0,M=()=>g(()=>`in-${N+=1}`)[0];function _(t,...e){let n=(t?.errors??[]).filter(({field:s})=>e.some(l=>s===l||s.startsWith(`${l}.`)));return n.length?n.map(({message:s})=>s).join("; "):null}function p({label:t,error:e,hint:n,children:s,class:l=""}){let o=M(),r=[n&&`${o}-hint`,e&&`${o}-error`].filter(Boolean).join(" ")||void 0;return $`
    <div class=${`field ${l}`}>
      <label for=${o}>${t}</label>
      ${s({id:o,"aria-invalid":e?"true":void 0,"aria-describedby":r})}
      ${n&&$`<span class="hint" id=${`${o}-hint`}>${n}</span>`}
      ${e&&$`<span class="error" id=${`${o}-error`}>${e}</span>`}
    </div>`}function Y({label:t,value:e,onChange:n,error:s,hint:l,class:o,...r}){return $`<${p} label=${t} error=${s} hint=${l} class=${o}>${a=>$`
    <input ...${a} ...${r} value=${e} spellcheck=${!1} autocapitalize="off" autocomplete="off" onInput=${({currentTarget:c})=>n(c.value)} />`}</${p}>`}function j({label:t,value:e,options:n,onChange:s,error:l,hint:o,class:r}){return $`<${p} label=${t} error=${l} hint=${o} class=${r}>${a=>$`
    <select ...${a} value=${e} onChange=${({currentTarget:c})=>s(c.value)}>
      ${n.map(([c,d])=>$`<option key=${c} value=${c} selected=${c===e}>${d}</option>`)}
    </select>`}</${p}>`}function q({label:t,value:e,options:n,onChange:s,unseen:l=!1}){let o=M();return $`
    <fieldset class="choices"><legend class=${l?"unseen":""}>${t}</legend>
      <div class="segments">${n.map(([r,a])=>$`
        <label key=${r}><input class="unseen" type="radio" name=${o} value=${r} checked=${r===e} onChange=${()=>s(r)} /><span>${a}</span></label>`)}
      </div>
    </fieldset>`}function Z(t,e,n=2,s=400){let l=[];for(let o=e;o<e+s*864e5&&l.length<n;o+=432e6){let r=t(o),a=t(o+432e6);r!==a&&l.push({at:U(t,o,o+432e6,r),before:r,after:a})}return l}function U(t,e,n,s){let l=Math.floor(e/6e4),o=Math.ceil(n/6e4);for(;o-l>1;){let r=Math.floor((l+o)/2);t(r*6e4)===s?l=r:o=r}return o*6e4}function B(t,e){let n=Date.parse(`${t}Z`),s=n-e(n)*6e4;return n-Math.min(e(s),e(n-e(s)*6e4))*6e4}function w(t){let[e,n]=t.slice(1).split(":").map(Number);return(t[0]==="-"?-1:1)*(e*60+(n||0))}function b(t){let e=Math.abs(t),n=s=>String(s).padStart(2,"0");return`${t<0?"-":"+"}${n(Math.floor(e/60))}:${n(e%60)}`}function y({at:t,before:e,after:n}){let s=l=>new Date(t+l*6e4).toISOString().slice(11,16);return[s(e),s(n)]}var I=(t,e)=>w(i(t,e).offset),K=(t,e=u.value)=>k(t,e).slice(0,10);function C({at:t,timezone:e=u.value,offset:n=!1,day:s=!0}){let l=i(t,e),o=l.second==="00"&&l.fractionalSecond==="000"?"":`:${l.second}`,r=`${l.hour}:${l.minute}${o}`,a=`${s?`${l.weekday} ${h(t,e)} `:""}${r}${n?` ${l.offset}`:""}`;return $`<time datetime=${new Date(t).toISOString()} title=${`${e} ${l.offset}`}>${a}</time>`}function Q({times:t,notes:e,timezone:n,caption:s}){let l=new Map(e.map(r=>[Date.parse(r.at),r])),o=O(n);return $`
    <div class="scroll fires-in"><table class=${o.length>2?"fire-times three-zones":"fire-times"}>
      <caption class="unseen">${s}</caption>
      <thead><tr>${o.map(({name:r,head:a})=>$`<th key=${r} scope="col">${a}</th>`)}<th scope="col"><span class="unseen">From now</span></th></tr></thead>
      <tbody>${t.map((r,a)=>{let c=l.get(Date.parse(r)),d=n&&a>0&&I(r,n)!==I(t[a-1],n);return $`
          ${d&&$`<tr key=${`change ${r}`} class="clock-change"><td colspan=${o.length+1}><${f} name="clock" /> From here on the offset is ${i(r,n).offset}</td></tr>`}
          <tr key=${r} class=${c?"flagged":""}>
            ${o.map(({name:m,head:E})=>$`<td key=${m} data-label=${E}><${C} at=${r} timezone=${m} offset=${m===n} /></td>`)}
            <td class="quiet end">${v(r,x.value)}</td>
          </tr>
          ${c&&$`<tr key=${`note ${r}`} class="flagged note-row"><td colspan=${o.length+1}><${f} name="alert" /> ${c.note}</td></tr>`}`})}</tbody>
    </table></div>`}function O(t){let e=[],n=(s,l)=>s&&!e.some(o=>o.name===s)&&e.push({name:s,head:l});return n(t,t),n("UTC","UTC"),n(u.value,`My zone, ${T.value}`),e}function R({changes:t,timezone:e,fixed:n=!0}){return t.length?$`
    <ul class="clock-changes">${t.map(s=>$`<${D} key=${s.at} change=${s} timezone=${e} fixed=${n} />`)}</ul>`:null}function D({change:t,timezone:e,fixed:n}){let[s,l]=y(t),o=t.notes.length>0;return $`
    <li class=${o?"flagged":""}>
      <${f} name=${o?"alert":"clock"} />
      <div>
        <strong><time datetime=${new Date(t.at).toISOString()}>${i(t.at,e).weekday} ${h(t.at,e)}</time></strong>
        ${` the clock in ${e} goes from ${s} to ${l}, `}<span class="nowrap">${b(t.before)} to ${b(t.after)}</span>
        ${t.notes.map(({at:r,note:a})=>$`<p key=${r+a} class="flag-note">${a}</p>`)}
        ${t.next&&$`<p class="quiet">Then <${C} at=${t.next} timezone=${e} offset />${n&&!o&&$`, which is ${S(t.next)} UTC (was ${S(F(t))})`}</p>`}
      </div>
    </li>`}var F=({next:t,before:e,after:n})=>Date.parse(t)+(n-e)*6e4;function S(t){let{hour:e,minute:n}=i(t,"UTC");return`${e}:${n}`}export{M as a,_ as b,p as c,Y as d,j as e,q as f,Z as g,B as h,y as i,I as j,K as k,C as l,Q as m,R as n};
