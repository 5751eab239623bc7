import{H as o}from"./chunk-DOORRIRL.js";function y(t){let n=0;function e(){for(;n<t.length&&` 	
\r`.includes(t[n]);)n+=1}function r(){let s=n;for(n+=1;t[n]!=='"';){if(n>=t.length)throw new SyntaxError("unfinished string");n+=t[n]==="\\"?2:1}return n+=1,JSON.parse(t.slice(s,n))}function i(s){if(t[n]!==s)throw new SyntaxError(`expected ${s} at ${n}`);n+=1}function u(s,c){n+=1,e();let $=[];for(;t[n]!==s;)$.length&&i(","),e(),$.push(c()),e();return n+=1,$}function l(){let s=r();return e(),i(":"),[s,p()]}function p(){e();let s=n;return{...m(),start:s,end:n,source:t}}function m(){if(t[n]==="{")return{type:"object",entries:u("}",l)};if(t[n]==="[")return{type:"array",items:u("]",p)};if(t[n]==='"')return{type:"string",text:r()};let s=/[^\s,\]}]*/y;s.lastIndex=n;let[c]=s.exec(t);return JSON.parse(c),n+=c.length,{type:/^[-\d]/.test(c)?"number":c,text:c}}let h=p();if(e(),n<t.length)throw new SyntaxError(`unexpected text at ${n}`);return h}var j=(t,n)=>t.entries?.find(([e])=>e===n)?.[1],w=t=>t.source.slice(t.start,t.end);function S(t,n=""){let e=`${n}  `;return t.type==="object"&&t.entries.length?`{
${t.entries.map(([i,u])=>`${e}${JSON.stringify(i)}: ${S(u,e)}`).join(`,
`)}
${n}}`:t.type==="array"&&t.items.length?`[
${t.items.map(r=>e+S(r,e)).join(`,
`)}
${n}]`:w(t)}var E=/^[\w@%+=:,./-]+$/,a="    ",g=t=>E.test(t)?t:`'${t.replaceAll("'","'\\''")}'`;function A({method:t,path:n,body:e}){let r=g(`${o.value}/v1/${n}`),i=e===void 0&&t==="GET"||t==="POST"&&e!==void 0?"":`-X ${t} `,u=`curl -s ${N()}${i}${r}`;if(e===void 0)return u;let l=typeof e=="string"?e:JSON.stringify(e,null,2);return`${u} -H 'content-type: application/json' \\
  -d ${g(l)}`}function N(){let t=/\.execute-api\.([\w-]+)\.amazonaws\.com$/.exec(new URL(o.value).hostname)?.[1];return t?`--aws-sigv4 aws:amz:${t}:execute-api \\
  --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" -H "x-amz-security-token: $AWS_SESSION_TOKEN" \\
  `:""}function C({call:t,body:n,keywords:e=n}){let r=t.includes("(**)")?t.replace("(**)",()=>`(${O(e)})`):t;return`from duetime import Client

client = Client(${f(y(JSON.stringify(o.value)))})
print(${r})`}function O(t){let n=y(typeof t=="string"?t:JSON.stringify(t));return n.entries?.length?`
${n.entries.map(([r,i])=>`${a}${r}=${f(i,a)},`).join(`
`)}
`:""}function f(t,n=""){let e=n+a;return t.type==="object"?x("{",t.entries.map(([r,i])=>`${JSON.stringify(r)}: ${f(i,e)}`),"}",n):t.type==="array"?x("[",t.items.map(r=>f(r,e)),"]",n):t.type==="string"?JSON.stringify(t.text):{true:"True",false:"False",null:"None"}[t.type]??t.text}function x(t,n,e,r){let i=t+n.join(", ")+e;return i.length<=80&&!i.includes(`
`)?i:`${t}
${n.map(u=>`${r}${a}${u},
`).join("")}${r}${e}`}export{y as a,j as b,w as c,S as d,A as e,C as f};
