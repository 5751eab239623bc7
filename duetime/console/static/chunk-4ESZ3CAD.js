import{b as c,i as l}from"./chunk-KGWSR3YK.js";var f=0,d=()=>c(()=>`in-${f+=1}`)[0];function b(r,...e){let n=(r?.errors??[]).filter(({field:t})=>e.some($=>t===$||t.startsWith(`${$}.`)));return n.length?n.map(({message:t})=>t).join("; "):null}function u({label:r,error:e,hint:n,children:t,class:$=""}){let s=d(),i=[n&&`${s}-hint`,e&&`${s}-error`].filter(Boolean).join(" ")||void 0;return l`
    <div class=${`field ${$}`}>
      <label for=${s}>${r}</label>
      ${t({id:s,"aria-invalid":e?"true":void 0,"aria-describedby":i})}
      ${n&&l`<span class="hint" id=${`${s}-hint`}>${n}</span>`}
      ${e&&l`<span class="error" id=${`${s}-error`}>${e}</span>`}
    </div>`}function v({label:r,value:e,onChange:n,error:t,hint:$,class:s,...i}){return l`<${u} label=${r} error=${t} hint=${$} class=${s}>${a=>l`
    <input ...${a} ...${i} value=${e} spellcheck=${!1} autocapitalize="off" autocomplete="off" onInput=${({currentTarget:o})=>n(o.value)} />`}</${u}>`}function x({label:r,value:e,options:n,onChange:t,error:$,hint:s,class:i}){return l`<${u} label=${r} error=${$} hint=${s} class=${i}>${a=>l`
    <select ...${a} value=${e} onChange=${({currentTarget:o})=>t(o.value)}>
      ${n.map(([o,p])=>l`<option key=${o} value=${o} selected=${o===e}>${p}</option>`)}
    </select>`}</${u}>`}function h({label:r,value:e,options:n,onChange:t,unseen:$=!1}){let s=d();return l`
    <fieldset class="choices"><legend class=${$?"unseen":""}>${r}</legend>
      <div class="segments">${n.map(([i,a])=>l`
        <label key=${i}><input class="unseen" type="radio" name=${s} value=${i} checked=${i===e} onChange=${()=>t(i)} /><span>${a}</span></label>`)}
      </div>
    </fieldset>`}export{d as a,b,u as c,v as d,x as e,h as f};
