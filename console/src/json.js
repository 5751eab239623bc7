/** A JSON reader that keeps numbers, the order of keys and every text as it is stored. */

/**
 * Parses JSON text.
 * @returns {{type: 'object'|'array'|'string'|'number'|'true'|'false'|'null', start: number, end: number,
 *   entries?: [string, object][], items?: object[], text?: string, source: string}} a node; its place in the text is start to end.
 */
export function parse(source) {
  let at = 0;

  function space() {
    while (at < source.length && ' \t\n\r'.includes(source[at])) at += 1;
  }

  function string() {
    const start = at;
    at += 1;
    while (source[at] !== '"') {
      if (at >= source.length) throw new SyntaxError('unfinished string');
      at += source[at] === '\\' ? 2 : 1;
    }
    at += 1;
    return JSON.parse(source.slice(start, at));
  }

  function expect(mark) {
    if (source[at] !== mark) throw new SyntaxError(`expected ${mark} at ${at}`);
    at += 1;
  }

  function several(close, read) {
    at += 1;
    space();
    const found = [];
    while (source[at] !== close) {
      if (found.length) expect(',');
      space();
      found.push(read());
      space();
    }
    at += 1;
    return found;
  }

  function entry() {
    const key = string();
    space();
    expect(':');
    return [key, value()];
  }

  function value() {
    space();
    const start = at;
    const node = content();
    return { ...node, start, end: at, source };
  }

  function content() {
    if (source[at] === '{') return { type: 'object', entries: several('}', entry) };
    if (source[at] === '[') return { type: 'array', items: several(']', value) };
    if (source[at] === '"') return { type: 'string', text: string() };
    const word = /[^\s,\]}]*/y;
    word.lastIndex = at;
    const [text] = word.exec(source);
    JSON.parse(text);
    at += text.length;
    return { type: /^[-\d]/.test(text) ? 'number' : text, text };
  }

  const node = value();
  space();
  if (at < source.length) throw new SyntaxError(`unexpected text at ${at}`);
  return node;
}

/** Returns the node of a field of an object, or undefined. */
export const field = (node, name) => node.entries?.find(([key]) => key === name)?.[1];

/** Returns what is stored of a node. */
export const sourceOf = (node) => node.source.slice(node.start, node.end);

/** Returns a node as indented text, with every number as it is stored. */
export function pretty(node, indent = '') {
  const deeper = `${indent}  `;
  if (node.type === 'object' && node.entries.length) {
    const lines = node.entries.map(([key, each]) => `${deeper}${JSON.stringify(key)}: ${pretty(each, deeper)}`);
    return `{\n${lines.join(',\n')}\n${indent}}`;
  }
  if (node.type === 'array' && node.items.length) {
    return `[\n${node.items.map((each) => deeper + pretty(each, deeper)).join(',\n')}\n${indent}]`;
  }
  return sourceOf(node);
}
