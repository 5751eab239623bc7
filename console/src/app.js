/** The console: the frame around every page, and the page of each path. */
import { html, render, useEffect, useState } from './vendor/preact.js';
import { Frame } from './frame.js';
import { interceptLinks, match, path } from './router.js';
import { me, start } from './live.js';
import { PAGES } from './pages.js';
import { ProblemNote, Empty } from './parts/notes.js';
import { signIn } from './sign_in.js';

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
  useEffect(() => {
    signIn().then(start).catch(setProblem);
  }, []);
  return html`<${Frame}>${problem ? html`<${ProblemNote} problem=${problem} />` : html`<${Page} />`}</${Frame}>`;
}

interceptLinks(document);
render(html`<${App} />`, document.getElementById('app'));
