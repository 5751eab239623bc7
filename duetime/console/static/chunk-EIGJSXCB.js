import{H as a,I as y}from"./chunk-KGWSR3YK.js";function S(t){let n=0;function e(){for(;n<t.length&&` 	
\r`.includes(t[n]);)n+=1}function r(){let s=n;for(n+=1;t[n]!=='"';){if(n>=t.length)throw new SyntaxError("unfinished string");n+=t[n]==="\\"?2:1}return n+=1,JSON.parse(t.slice(s,n))}function i(s){if(t[n]!==s)throw new SyntaxError(`expected ${s} at ${n}`);n+=1}function o(s,u){n+=1,e();let $=[];for(;t[n]!==s;)$.length&&i(","),e(),$.push(u()),e();return n+=1,$}function l(){let s=r();return e(),i(":"),[s,p()]}function p(){e();let s=n;return{...m(),start:s,end:n,source:t}}function m(){if(t[n]==="{")return{type:"object",entries:o("}",l)};if(t[n]==="[")return{type:"array",items:o("]",p)};if(t[n]==='"')return{type:"string",text:r()};let s=/[^\s,\]}]*/y;s.lastIndex=n;let[u]=s.exec(t);return JSON.parse(u),n+=u.length,{type:/^[-\d]/.test(u)?"number":u,text:u}}let E=p();if(e(),n<t.length)throw new SyntaxError(`unexpected text at ${n}`);return E}var _=(t,n)=>t.entries?.find(([e])=>e===n)?.[1],w=t=>t.source.slice(t.start,t.end);function g(t,n=""){let e=`${n}  `;return t.type==="object"&&t.entries.length?`{
${t.entries.map(([i,o])=>`${e}${JSON.stringify(i)}: ${g(o,e)}`).join(`,
`)}
${n}}`:t.type==="array"&&t.items.length?`[
${t.items.map(r=>e+g(r,e)).join(`,
`)}
${n}]`:w(t)}var N=/^[\w@%+=:,./-]+$/,c="    ",x=t=>N.test(t)?t:`'${t.replaceAll("'","'\\''")}'`;function k({method:t,path:n,body:e}){let r=x(`${a.value}/v1/${n}`),i=e===void 0&&t==="GET"||t==="POST"&&e!==void 0?"":`-X ${t} `,o=`curl -s ${O()}${i}${r}`;if(e===void 0)return o;let l=typeof e=="string"?e:JSON.stringify(e,null,2);return`${o} -H 'content-type: application/json' \\
  -d ${x(l)}`}function O(){if(y.value==="token")return`-H "authorization: Bearer $DUETIME_TOKEN" \\
  `;let t=/\.execute-api\.([\w-]+)\.amazonaws\.com$/.exec(new URL(a.value).hostname)?.[1];return t?`--aws-sigv4 aws:amz:${t}:execute-api \\
  --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" -H "x-amz-security-token: $AWS_SESSION_TOKEN" \\
  `:""}function A({call:t,body:n,keywords:e=n}){let r=t.includes("(**)")?t.replace("(**)",()=>`(${v(e)})`):t,i=y.value==="token"?"  # the token is in DUETIME_TOKEN":"";return`from duetime import Client

client = Client(${f(S(JSON.stringify(a.value)))})${i}
print(${r})`}function v(t){let n=S(typeof t=="string"?t:JSON.stringify(t));return n.entries?.length?`
${n.entries.map(([r,i])=>`${c}${r}=${f(i,c)},`).join(`
`)}
`:""}function f(t,n=""){let e=n+c;return t.type==="object"?h("{",t.entries.map(([r,i])=>`${JSON.stringify(r)}: ${f(i,e)}`),"}",n):t.type==="array"?h("[",t.items.map(r=>f(r,e)),"]",n):t.type==="string"?JSON.stringify(t.text):{true:"True",false:"False",null:"None"}[t.type]??t.text}function h(t,n,e,r){let i=t+n.join(", ")+e;return i.length<=80&&!i.includes(`
`)?i:`${t}
${n.map(o=>`${r}${c}${o},
`).join("")}${r}${e}`}export{S as a,_ as b,w as c,g as d,k as e,A as f};
