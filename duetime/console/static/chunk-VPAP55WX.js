function x(n){let t=0;function e(){for(;t<n.length&&` 	
\r`.includes(n[t]);)t+=1}function s(){let r=t;for(t+=1;n[t]!=='"';){if(t>=n.length)throw new SyntaxError("unfinished string");t+=n[t]==="\\"?2:1}return t+=1,JSON.parse(n.slice(r,t))}function f(r){if(n[t]!==r)throw new SyntaxError(`expected ${r} at ${t}`);t+=1}function o(r,i){t+=1,e();let a=[];for(;n[t]!==r;)a.length&&f(","),e(),a.push(i()),e();return t+=1,a}function l(){let r=s();return e(),f(":"),[r,p()]}function p(){e();let r=t;return{...u(),start:r,end:t,source:n}}function u(){if(n[t]==="{")return{type:"object",entries:o("}",l)};if(n[t]==="[")return{type:"array",items:o("]",p)};if(n[t]==='"')return{type:"string",text:s()};let r=/[^\s,\]}]*/y;r.lastIndex=t;let[i]=r.exec(n);return JSON.parse(i),t+=i.length,{type:/^[-\d]/.test(i)?"number":i,text:i}}let y=p();if(e(),t<n.length)throw new SyntaxError(`unexpected text at ${t}`);return y}var g=(n,t)=>n.entries?.find(([e])=>e===t)?.[1],h=n=>n.source.slice(n.start,n.end);function c(n,t=""){let e=`${t}  `;return n.type==="object"&&n.entries.length?`{
${n.entries.map(([f,o])=>`${e}${JSON.stringify(f)}: ${c(o,e)}`).join(`,
`)}
${t}}`:n.type==="array"&&n.items.length?`[
${n.items.map(s=>e+c(s,e)).join(`,
`)}
${t}]`:h(n)}export{x as a,g as b,h as c,c as d};
