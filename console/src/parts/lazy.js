/** Pages that are loaded when they are first opened. */
import { html, useEffect, useState } from '../vendor/preact.js';
import { Loading, ProblemNote } from './notes.js';

/**
 * Returns a component that is loaded when it is first shown.
 * @param {() => Promise<object>} load imports the module
 * @param {string} name of the component in it
 */
export function lazy(load, name) {
  return function Lazy(props) {
    const [state, setState] = useState({});
    useEffect(() => {
      load().then((module) => setState({ page: module[name] }), (problem) => setState({ problem }));
    }, []);
    if (state.problem) return html`<${ProblemNote} problem=${{ title: 'The page could not be loaded', detail: state.problem.message }} retry=${() => window.location.reload()} />`;
    return state.page ? html`<${state.page} ...${props} />` : html`<${Loading} />`;
  };
}
