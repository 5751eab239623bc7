import{b as x,c as k}from"./chunk-PEIWDLQR.js";import{$ as w,Z as g,b as m,c as p,e as b,i as s,l as $,oa as y,pa as h}from"./chunk-TQ6BVPP3.js";var N=({id:t})=>t;function C(t,a,c=N){let r=`${t}?${JSON.stringify(a)}`,e=b(()=>x(c),[r]),[d,u]=m({key:r,cursor:void 0}),[v,l]=m(null),o=h(t,a),{cursor:i}=d.key===r?d:{cursor:void 0};p(()=>{if(o.data)if(y(o.data.items),i===void 0)e.replace(o.data.items);else for(let n of o.data.items)e.change(c(n),n)},[o.data]);let f=i===void 0?o.data?.next_cursor:i,L=async()=>{l(null);try{let n=await $(t,{...a,cursor:f});e.append(n.items),u({key:r,cursor:n.next_cursor})}catch(n){l(n)}};return{rows:e,read:{...o,problem:v??o.problem},more:f?L:null}}function E({list:t,empty:a,...c}){let{rows:r,read:e,more:d}=t,u=e.data!==void 0&&!e.data.items.length&&!r.keys.value.length;return s`
    <${g} problem=${e.problem} retry=${e.reload} />
    ${(e.data!==void 0||!e.problem)&&s`<div class="panel">
      ${e.data===void 0?s`<${w} />`:u?a:s`<${k} rows=${r} ...${c} />`}
    </div>`}
    ${d&&s`<p class="more"><button onClick=${d}>Show more</button></p>`}`}export{C as a,E as b};
