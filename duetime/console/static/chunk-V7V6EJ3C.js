import{b as x,c as k}from"./chunk-XQRFPDJE.js";import{b as m,ba as g,c as p,da as w,e as b,i as s,l as $,ua as y,wa as h}from"./chunk-KGWSR3YK.js";var N=({id:o})=>o;function C(o,a,c=N){let r=`${o}?${JSON.stringify(a)}`,e=b(()=>x(c),[r]),[d,u]=m({key:r,cursor:void 0}),[v,l]=m(null),t=h(o,a),{cursor:i}=d.key===r?d:{cursor:void 0};p(()=>{if(t.data)if(y(t.data.items),i===void 0)e.replace(t.data.items);else for(let n of t.data.items)e.change(c(n),n)},[t.data]);let f=i===void 0?t.data?.next_cursor:i,L=async()=>{l(null);try{let n=await $(o,{...a,cursor:f});e.append(n.items),u({key:r,cursor:n.next_cursor})}catch(n){l(n)}};return{rows:e,read:{...t,problem:v??t.problem},more:f?L:null}}function E({list:o,empty:a,...c}){let{rows:r,read:e,more:d}=o,u=e.data!==void 0&&!e.data.items.length&&!r.keys.value.length;return s`
    <${g} problem=${e.problem} retry=${e.reload} />
    ${(e.data!==void 0||!e.problem)&&s`<div class="panel">
      ${e.data===void 0?s`<${w} />`:u?a:s`<${k} rows=${r} ...${c} />`}
    </div>`}
    ${d&&s`<p class="list-more"><button onClick=${d}>Show more</button></p>`}`}export{C as a,E as b};
