import{F as v,d as k,f,g,i as $,ma as b}from"./chunk-KGWSR3YK.js";var m=200;function K(t){let l=g([]),s=new Map;function r(e){let a=t(e),p=s.get(a);return p?p.value=e:s.set(a,g(e)),a}function o(e){let a=new Set(e);for(let i of s.keys())a.has(i)||s.delete(i);e.length===l.peek().length&&e.every((i,u)=>i===l.peek()[u])||(l.value=e)}return{keys:l,has:e=>s.has(e),row:e=>s.get(e),list:()=>l.peek().map(e=>s.get(e).peek()),replace:e=>f(()=>o([...new Set(e.map(r))])),append:e=>f(()=>o([...new Set([...l.peek(),...e.map(r)])].slice(-m))),change:(e,a)=>s.get(e)&&(s.get(e).value={...s.get(e).peek(),...a})}}function R({rows:t,columns:l,href:s,caption:r,selected:o}){let e=k(null),a=k(null),p=n=>{let d=[...e.current.rows],h=d.indexOf(document.activeElement.closest("tr"));d[Math.max(0,Math.min(d.length-1,h+n))]?.focus()},i=()=>document.activeElement.closest("tr")?.dataset.key,u=(n,d=!1)=>{if(!n)return;let h=new Set(o.peek());if(d&&a.current)for(let y of x(t.keys.peek(),a.current,n))h.add(y);else h.delete(n)||h.add(n);a.current=n,o.value=h};v({j:()=>p(1),k:()=>p(-1),...o&&{x:()=>u(i()),X:()=>u(i(),!0)}});let c=o&&t.keys.value.length>0&&t.keys.value.every(n=>o.value.has(n));return $`
    <div class="scroll"><table class="rows">
      <caption class="unseen">${r}</caption>
      <thead><tr>
        ${o&&$`<th class="check"><input type="checkbox" aria-label="Select all rows" checked=${c}
          onChange=${()=>o.value=new Set(c?[]:t.keys.peek())} /></th>`}
        ${l.map(n=>$`<th key=${n.id} scope="col" class=${n.class}>${n.head}</th>`)}
      </tr></thead>
      <tbody ref=${e}>
        ${t.keys.value.map(n=>$`<${w} key=${n} name=${n} row=${t.row(n)} ...${{columns:l,href:s,selected:o,toggle:u}} />`)}
      </tbody>
    </table></div>`}function x(t,l,s){let[r,o]=[t.indexOf(l),t.indexOf(s)].sort((e,a)=>e-a);return t.slice(Math.max(r,0),o+1)}function w({name:t,row:l,columns:s,href:r,selected:o,toggle:e}){let a=l.value,p=c=>{!r||c.target.closest("a, button, input, label")||window.getSelection().toString()||b(r(a))},i=c=>c.key==="Enter"&&c.target===c.currentTarget&&r&&b(r(a)),u=o?.value.has(t);return $`
    <tr data-key=${t} tabindex="-1" class=${`${r?"opens":""} ${u?"selected":""}`} onClick=${p} onKeyDown=${i}>
      ${o&&$`<td class="check"><input type="checkbox" aria-label=${`Select ${t}`} checked=${u}
        onClick=${c=>e(t,c.shiftKey)} /></td>`}
      ${s.map(c=>$`<td key=${c.id} class=${c.class} data-label=${c.label??c.head}>${c.cell(a)}</td>`)}
    </tr>`}export{m as a,K as b,R as c};
