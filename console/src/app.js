/** The console: the frame around every page, and the page of each path. */
import { html, render, useEffect, useState } from './vendor/preact.js';
import { Frame } from './frame.js';
import { interceptLinks, match, path } from './router.js';
import { me, start } from './live.js';
import { PAGES } from './pages.js';
import { ProblemNote, Empty } from './parts/notes.js';
import { signedOut } from './api.js';
import { SignIn, signIn } from './sign_in.js';

function Page() {
  for (const { path: pattern, page, title } of PAGES) {
    const parameters = match(pattern, path.value);
    if (parameters) return html`<${Titled} key=${pattern + JSON.stringify(parameters)} title=${title}><${page} ...${parameters} /></${Titled}>`;
  }
  return html`<${Titled} title="Not found"><${Empty} alone title="There is no such page"><a class="button" href="/">Overview</a></${Empty}></${Titled}>`;
}

function Titled({ title, children }) {
  useEffect(() => {
    document.title = `${title} · Duetime${me.value?.stage ? ` ${me.value.stage}` : ''}`;
  }, [title]);
  return children;
}

function App() {
  const [problem, setProblem] = useState(null);
  const [ready, setReady] = useState(!window.location.hash.startsWith('#t='));
  useEffect(() => {
    signIn().then(() => {
      setReady(true);
      return start();
    }).catch(setProblem);
  }, []);
  const page = problem ? html`<${ProblemNote} problem=${problem} />` : ready && html`<${Page} />`;
  return html`<${Frame}>${signedOut.value ? html`<${SignIn} onDone=${start} />` : page}</${Frame}>`;
}

interceptLinks(document);
render(html`<${App} />`, document.getElementById('app'));
