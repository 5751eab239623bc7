import{a as m,c as h,d as f}from"./chunk-EIGJSXCB.js";import{_ as g,b as c,e as p,i as e}from"./chunk-KGWSR3YK.js";var u=100,k=2,d=400;function P({text:t,name:l}){let[s,a]=c(!1),n=p(()=>w(t),[t]),o=n&&(n.entries?.length||n.items?.length);return e`
    <div class="json" role="group" aria-label=${l}>
      <div class="json-actions">
        ${o?e`<button class="plain" onClick=${()=>a(!s)}>${s?"Tree":"Text"}</button>`:null}
        <${g} text=${t} name=${l} />
      </div>
      ${s||!n?e`<pre tabindex="0">${n?f(n):t}</pre>`:e`<div class="tree"><${y} node=${n} depth=${0} /></div>`}
    </div>`}function w(t){try{return m(t)}catch{return null}}function y({node:t,name:l,depth:s}){let[a,n]=c(s<k),[o,b]=c(u),r=t.entries??t.items?.map((i,$)=>[$,i]);if(!r?.length)return e`<div class="leaf"><${v} name=${l} /><${C} node=${t} /></div>`;let T=t.entries?`{ ${r.length} }`:`[ ${r.length} ]`;return e`
    <details open=${a} onToggle=${i=>n(i.currentTarget.open)}>
      <summary><${v} name=${l} /><span class="quiet">${T}</span></summary>
      ${a&&e`<div class="branch">
        ${r.slice(0,o).map(([i,$],x)=>e`<${y} key=${x} node=${$} name=${i} depth=${s+1} />`)}
        ${r.length>o&&e`<button class="small" onClick=${()=>b(o+u)}>
          ${Math.min(u,r.length-o)} more of ${r.length-o}</button>`}
      </div>`}
    </details>`}var v=({name:t})=>t===void 0?null:e`<span class=${typeof t=="number"?"index":"key"}>${t}</span>`;function C({node:t}){let[l,s]=c(!1);if(t.type!=="string")return e`<span class=${`value ${t.type}`}>${h(t)}</span>`;let a=t.text.length>d&&!l;return e`<span class="value string">"${a?t.text.slice(0,d):t.text}"</span>
    ${a&&e`<button class="small" onClick=${()=>s(!0)}>all ${t.text.length} characters</button>`}`}export{P as a};
