(()=>{let e=null;try{e=localStorage.getItem("duetime.theme")}catch{}let t=e?e==="dark":matchMedia("(prefers-color-scheme: dark)").matches;document.documentElement.dataset.theme=t?"dark":"light"})();
