/** Numbers and names as the pages show them. Times are in zone.js. */

const NUMBERS = new Intl.NumberFormat('en');

/** `1,204`; a dash for what is not known. */
export const count = (number) => (number === null || number === undefined ? '–' : NUMBERS.format(number));

/** `1 task`, `1,204 tasks` */
export const counted = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

/** `99.97 %`, never rounded up to 100 */
export function percent(share) {
  if (share === null || share === undefined) return '–';
  const hundredths = share >= 1 ? 10_000 : Math.min(Math.round(share * 10_000), 9_999);
  return `${(hundredths / 100).toFixed(2).replace(/\.?0+$/, '')} %`;
}

/** `212 B`, `16 KB`, `1.2 MB` */
export function bytes(size) {
  if (size < 1_024) return `${size} B`;
  return size < 1_024 ** 2 ? `${Math.round(size / 1_024)} KB` : `${(size / 1_024 ** 2).toFixed(1)} MB`;
}

/** What a task does, in a few words: the handler, or method and URL. */
export function targetText(target) {
  if (!target) return '–';
  if (typeof target === 'string') return target;
  if (target.handler) return target.handler;
  if (target.url) return `${target.method ?? 'POST'} ${typeof target.url === 'string' ? target.url.replace(/^https?:\/\//, '') : '(secret)'}`;
  return target.workflow ?? target.type;
}

/** `2` + `/` or ` of ` + `5`; only `7` once a redriven task has had more attempts than its policy. */
export const attempts = (number, most, of = '/') => (number <= most ? `${number}${of}${most}` : String(number));

/** What to call a task: its name, or its target. */
export const taskName = (task) => task.name || targetText(task.target);

/** Why a task was cancelled, in words. */
export const REASONS = {
  overlap: 'the previous run was still running', misfire: 'its time was missed', paused: 'its schedule was paused',
  changed: 'its schedule was changed', deleted: 'its schedule was deleted', replaced: 'a newer unique task replaced it',
  limit: 'its limit was full', workflow: 'its workflow run was cancelled', discarded: 'discarded from the dead letters',
};
