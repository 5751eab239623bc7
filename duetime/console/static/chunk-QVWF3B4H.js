import{Da as f,Ea as T,Ha as $,K as h,La as d,Ma as k,Oa as g,W as i,i as a}from"./chunk-KGWSR3YK.js";function N(t,e,o=2,r=400){let c=[];for(let n=e;n<e+r*864e5&&c.length<o;n+=432e6){let s=t(n),l=t(n+432e6);s!==l&&c.push({at:U(t,n,n+432e6,s),before:s,after:l})}return c}function U(t,e,o,r){let c=Math.floor(e/6e4),n=Math.ceil(o/6e4);for(;n-c>1;){let s=Math.floor((c+n)/2);t(s*6e4)===r?c=s:n=s}return n*6e4}function C(t,e){let o=Date.parse(`${t}Z`),r=o-e(o)*6e4;return o-Math.min(e(r),e(o-e(r)*6e4))*6e4}function M(t){let[e,o]=t.slice(1).split(":").map(Number);return(t[0]==="-"?-1:1)*(e*60+(o||0))}function m(t){let e=Math.abs(t),o=r=>String(r).padStart(2,"0");return`${t<0?"-":"+"}${o(Math.floor(e/60))}:${o(e%60)}`}function w({at:t,before:e,after:o}){let r=c=>new Date(t+c*6e4).toISOString().slice(11,16);return[r(e),r(o)]}var x=(t,e)=>M($(t,e).offset),Z=(t,e=f.value)=>k(t,e).slice(0,10);function E({at:t,timezone:e=f.value,offset:o=!1,day:r=!0}){let c=$(t,e),n=c.second==="00"&&c.fractionalSecond==="000"?"":`:${c.second}`,s=`${c.hour}:${c.minute}${n}`,l=`${r?`${c.weekday} ${d(t,e)} `:""}${s}${o?` ${c.offset}`:""}`;return a`<time datetime=${new Date(t).toISOString()} title=${`${e} ${c.offset}`}>${l}</time>`}function L({times:t,notes:e,timezone:o,caption:r}){let c=new Map(e.map(s=>[Date.parse(s.at),s])),n=b(o);return a`
    <div class="scroll fires-in"><table class=${n.length>2?"fire-times three-zones":"fire-times"}>
      <caption class="unseen">${r}</caption>
      <thead><tr>${n.map(({name:s,head:l})=>a`<th key=${s} scope="col">${l}</th>`)}<th scope="col"><span class="unseen">From now</span></th></tr></thead>
      <tbody>${t.map((s,l)=>{let u=c.get(Date.parse(s)),I=o&&l>0&&x(s,o)!==x(t[l-1],o);return a`
          ${I&&a`<tr key=${`change ${s}`} class="clock-change"><td colspan=${n.length+1}><${i} name="clock" /> From here on the offset is ${$(s,o).offset}</td></tr>`}
          <tr key=${s} class=${u?"flagged":""}>
            ${n.map(({name:p,head:S})=>a`<td key=${p} data-label=${S}><${E} at=${s} timezone=${p} offset=${p===o} /></td>`)}
            <td class="quiet end">${g(s,h.value)}</td>
          </tr>
          ${u&&a`<tr key=${`note ${s}`} class="flagged note-row"><td colspan=${n.length+1}><${i} name="alert" /> ${u.note}</td></tr>`}`})}</tbody>
    </table></div>`}function b(t){let e=[],o=(r,c)=>r&&!e.some(n=>n.name===r)&&e.push({name:r,head:c});return o(t,t),o("UTC","UTC"),o(f.value,`My zone, ${T.value}`),e}function W({changes:t,timezone:e,fixed:o=!0}){return t.length?a`
    <ul class="clock-changes">${t.map(r=>a`<${v} key=${r.at} change=${r} timezone=${e} fixed=${o} />`)}</ul>`:null}function v({change:t,timezone:e,fixed:o}){let[r,c]=w(t),n=t.notes.length>0;return a`
    <li class=${n?"flagged":""}>
      <${i} name=${n?"alert":"clock"} />
      <div>
        <strong><time datetime=${new Date(t.at).toISOString()}>${$(t.at,e).weekday} ${d(t.at,e)}</time></strong>
        ${` the clock in ${e} goes from ${r} to ${c}, `}<span class="nowrap">${m(t.before)} to ${m(t.after)}</span>
        ${t.notes.map(({at:s,note:l})=>a`<p key=${s+l} class="flag-note">${l}</p>`)}
        ${t.next&&a`<p class="quiet">Then <${E} at=${t.next} timezone=${e} offset />${o&&!n&&a`, which is ${y(t.next)} UTC (was ${y(D(t))})`}</p>`}
      </div>
    </li>`}var D=({next:t,before:e,after:o})=>Date.parse(t)+(o-e)*6e4;function y(t){let{hour:e,minute:o}=$(t,"UTC");return`${e}:${o}`}export{N as a,C as b,w as c,x as d,Z as e,E as f,L as g,W as h};
