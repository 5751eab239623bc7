import{i as a}from"./chunk-KGWSR3YK.js";var i=240,b=40;function h({values:t,title:e,tone:s="blue",unfinished:r=!1,max:c,height:n=b}){let p=c??Math.max(1,...t.map(o=>o??0)),l=i/Math.max(t.length,1);return a`
    <svg class=${`spark tone-${s}`} viewBox=${`0 0 ${i} ${n}`} preserveAspectRatio="none" role="img" aria-label=${e}>
      <title>${e}</title>
      <line class="base" x1="0" x2=${i} y1=${n-.5} y2=${n-.5} />
      ${t.map((o,$)=>{if(!o)return null;let m=Math.max(1.5,o/p*(n-3)),d=r&&$===t.length-1;return a`<rect key=${$} class=${d?"unfinished":""} x=${$*l+l*.12} width=${l*.76} y=${n-m} height=${m} rx="0.8" />`})}
    </svg>`}function u({head:t,rows:e}){return a`
    <details class="as-table"><summary>Show as table</summary>
      <div class="scroll"><table><thead><tr>${t.map(s=>a`<th scope="col">${s}</th>`)}</tr></thead>
        <tbody>${e.map(s=>a`<tr>${s.map(r=>a`<td>${r}</td>`)}</tr>`)}</tbody></table></div>
    </details>`}function y({share:t,tone:e="blue",title:s}){let r=`${Math.max(0,Math.min(1,t??0))*100}%`;return a`<span class=${`meter tone-${e}`} role="img" aria-label=${s}><span style=${{width:r}}></span></span>`}export{h as a,u as b,y as c};
