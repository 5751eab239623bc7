/** The same call as a command line and as Python. */
import { address, authorization } from './address.js';
import { parse } from './json.js';

const SHELL_SAFE = /^[\w@%+=:,./-]+$/;
const INDENT = '    ';

/** Quotes a text for a POSIX shell. */
export const shell = (text) => (SHELL_SAFE.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** @param {{method: string, path: string, body?: unknown}} call `path` is below /v1; `body` is a value, or JSON text */
export function curl({ method, path, body }) {
  const url = shell(`${address.value}/v1/${path}`);
  const verb = body === undefined && method === 'GET' ? '' : method === 'POST' && body !== undefined ? '' : `-X ${method} `;
  const start = `curl -s ${credentials()}${verb}${url}`;
  if (body === undefined) return start;
  const text = typeof body === 'string' ? body : JSON.stringify(body, null, 2);
  return `${start} -H 'content-type: application/json' \\\n  -d ${shell(text)}`;
}

/** Returns the options that authorize a call, as the Python client does by itself. The shell fills in the secrets. */
function credentials() {
  if (authorization.value === 'token') return '-H "authorization: Bearer $DUETIME_TOKEN" \\\n  ';
  const region = /\.execute-api\.([\w-]+)\.amazonaws\.com$/.exec(new URL(address.value).hostname)?.[1];
  return region ? `--aws-sigv4 aws:amz:${region}:execute-api \\\n  --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" -H "x-amz-security-token: $AWS_SESSION_TOKEN" \\\n  ` : '';
}

/**
 * A call of the Python client.
 * @param {{call: string, body?: unknown, keywords?: object}} wanted `call` is a call of the client such as
 *   `client.retry("ID")`; `(**)` in it becomes the keywords, which are the fields of the body if there are no others
 */
export function python({ call, body, keywords: named = body }) {
  const made = call.includes('(**)') ? call.replace('(**)', () => `(${keywords(named)})`) : call;
  const token = authorization.value === 'token' ? '  # the token is in DUETIME_TOKEN' : '';
  return `from duetime import Client\n\nclient = Client(${literal(parse(JSON.stringify(address.value)))})${token}\nprint(${made})`;
}

function keywords(body) {
  const node = parse(typeof body === 'string' ? body : JSON.stringify(body));
  if (!node.entries?.length) return '';
  const lines = node.entries.map(([name, value]) => `${INDENT}${name}=${literal(value, INDENT)},`);
  return `\n${lines.join('\n')}\n`;
}

/** Returns a node of JSON as Python. */
function literal(node, indent = '') {
  const deeper = indent + INDENT;
  if (node.type === 'object') return several('{', node.entries.map(([key, value]) => `${JSON.stringify(key)}: ${literal(value, deeper)}`), '}', indent);
  if (node.type === 'array') return several('[', node.items.map((item) => literal(item, deeper)), ']', indent);
  if (node.type === 'string') return JSON.stringify(node.text);
  return { true: 'True', false: 'False', null: 'None' }[node.type] ?? node.text;
}

function several(open, parts, close, indent) {
  const line = open + parts.join(', ') + close;
  if (line.length <= 80 && !line.includes('\n')) return line;
  return `${open}\n${parts.map((part) => `${indent}${INDENT}${part},\n`).join('')}${indent}${close}`;
}
