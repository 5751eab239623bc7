import{Aa as g,Da as i,Ha as h,I as T,Ia as k,Ka as v,T as f,b as x,i as $,za as u}from"./chunk-I6LSK2A5.js";var N=0,M=()=>x(()=>`in-${N+=1}`)[0];function _(t,...e){let n=(t?.errors??[]).filter(({field:o})=>e.some(l=>o===l||o.startsWith(`${l}.`)));return n.length?n.map(({message:o})=>o).join("; "):null}function p({label:t,error:e,hint:n,children:o,class:l=""}){let s=M(),r=[n&&`${s}-hint`,e&&`${s}-error`].filter(Boolean).join(" ")||void 0;return $`
    <div class=${`field ${l}`}>
      <label for=${s}>${t}</label>
      ${o({id:s,"aria-invalid":e?"true":void 0,"aria-describedby":r})}
      ${n&&$`<span class="hint" id=${`${s}-hint`}>${n}</span>`}
      ${e&&$`<span class="error" id=${`${s}-error`}>${e}</span>`}
    </div>`}function Y({label:t,value:e,onChange:n,error:o,hint:l,class:s,...r}){return $`<${p} label=${t} error=${o} hint=${l} class=${s}>${a=>$`
    <input ...${a} ...${r} value=${e} spellcheck=${!1} autocapitalize="off" autocomplete="off" onInput=${({currentTarget:c})=>n(c.value)} />`}</${p}>`}function j({label:t,value:e,options:n,onChange:o,error:l,hint:s,class:r}){return $`<${p} label=${t} error=${l} hint=${s} class=${r}>${a=>$`
    <select ...${a} value=${e} onChange=${({currentTarget:c})=>o(c.value)}>
      ${n.map(([c,d])=>$`<option key=${c} value=${c} selected=${c===e}>${d}</option>`)}
    </select>`}</${p}>`}function q({label:t,value:e,options:n,onChange:o,unseen:l=!1}){let s=M();return $`
    <fieldset class="choices"><legend class=${l?"unseen":""}>${t}</legend>
      <div class="segments">${n.map(([r,a])=>$`
        <label key=${r}><input class="unseen" type="radio" name=${s} value=${r} checked=${r===e} onChange=${()=>o(r)} /><span>${a}</span></label>`)}
      </div>
    </fieldset>`}function Z(t,e,n=2,o=400){let l=[];for(let s=e;s<e+o*864e5&&l.length<n;s+=432e6){let r=t(s),a=t(s+432e6);r!==a&&l.push({at:U(t,s,s+432e6,r),before:r,after:a})}return l}function U(t,e,n,o){let l=Math.floor(e/6e4),s=Math.ceil(n/6e4);for(;s-l>1;){let r=Math.floor((l+s)/2);t(r*6e4)===o?l=r:s=r}return s*6e4}function B(t,e){let n=Date.parse(`${t}Z`),o=n-e(n)*6e4;return n-Math.min(e(o),e(n-e(o)*6e4))*6e4}function w(t){let[e,n]=t.slice(1).split(":").map(Number);return(t[0]==="-"?-1:1)*(e*60+(n||0))}function b(t){let e=Math.abs(t),n=o=>String(o).padStart(2,"0");return`${t<0?"-":"+"}${n(Math.floor(e/60))}:${n(e%60)}`}function y({at:t,before:e,after:n}){let o=l=>new Date(t+l*6e4).toISOString().slice(11,16);return[o(e),o(n)]}var I=(t,e)=>w(i(t,e).offset),Q=(t,e=u.value)=>k(t,e).slice(0,10);function C({at:t,timezone:e=u.value,offset:n=!1,day:o=!0}){let l=i(t,e),s=l.second==="00"&&l.fractionalSecond==="000"?"":`:${l.second}`,r=`${l.hour}:${l.minute}${s}`,a=`${o?`${l.weekday} ${h(t,e)} `:""}${r}${n?` ${l.offset}`:""}`;return $`<time datetime=${new Date(t).toISOString()} title=${`${e} ${l.offset}`}>${a}</time>`}function R({times:t,notes:e,timezone:n,caption:o}){let l=new Map(e.map(r=>[Date.parse(r.at),r])),s=O(n);return $`
    <div class="scroll fires-in"><table class="fire-times">
      <caption class="unseen">${o}</caption>
      <thead><tr>${s.map(({name:r,head:a})=>$`<th key=${r} scope="col">${a}</th>`)}<th scope="col"><span class="unseen">From now</span></th></tr></thead>
      <tbody>${t.map((r,a)=>{let c=l.get(Date.parse(r)),d=n&&a>0&&I(r,n)!==I(t[a-1],n);return $`
          ${d&&$`<tr key=${`change ${r}`} class="clock-change"><td colspan=${s.length+1}><${f} name="clock" /> From here on the offset is ${i(r,n).offset}</td></tr>`}
          <tr key=${r} class=${c?"flagged":""}>
            ${s.map(({name:m,head:E})=>$`<td key=${m} data-label=${E}><${C} at=${r} timezone=${m} offset=${m===n} /></td>`)}
            <td class="quiet end">${v(r,T.value)}</td>
          </tr>
          ${c&&$`<tr key=${`note ${r}`} class="flagged note-row"><td colspan=${s.length+1}><${f} name="alert" /> ${c.note}</td></tr>`}`})}</tbody>
    </table></div>`}function O(t){let e=[],n=(o,l)=>o&&!e.some(s=>s.name===o)&&e.push({name:o,head:l});return n(t,t),n("UTC","UTC"),n(u.value,`My zone, ${g.value}`),e}function V({changes:t,timezone:e,fixed:n=!0}){return t.length?$`
    <ul class="clock-changes">${t.map(o=>$`<${D} key=${o.at} change=${o} timezone=${e} fixed=${n} />`)}</ul>`:null}function D({change:t,timezone:e,fixed:n}){let[o,l]=y(t),s=t.notes.length>0;return $`
    <li class=${s?"flagged":""}>
      <${f} name=${s?"alert":"clock"} />
      <div>
        <strong><time datetime=${new Date(t.at).toISOString()}>${i(t.at,e).weekday} ${h(t.at,e)}</time></strong>
        ${` the clock in ${e} goes from ${o} to ${l}, `}<span class="nowrap">${b(t.before)} to ${b(t.after)}</span>
        ${t.notes.map(({at:r,note:a})=>$`<p key=${r+a} class="flag-note">${a}</p>`)}
        ${t.next&&$`<p class="quiet">Then <${C} at=${t.next} timezone=${e} offset />${n&&!s&&$`, which is ${S(t.next)} UTC (was ${S(F(t))})`}</p>`}
      </div>
    </li>`}var F=({next:t,before:e,after:n})=>Date.parse(t)+(n-e)*6e4;function S(t){let{hour:e,minute:n}=i(t,"UTC");return`${e}:${n}`}export{M as a,_ as b,p as c,Y as d,j as e,q as f,Z as g,B as h,y as i,I as j,Q as k,C as l,R as m,V as n};
