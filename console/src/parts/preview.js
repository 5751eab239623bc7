/** What the API says about a rule: its words, its next fire times, and what the clock changes do to it. */
import { useEffect, useRef, useState } from '../vendor/preact.js';
import { post } from '../api.js';
import { serverNow } from '../clock.js';
import { changesAfter } from '../models/clock_changes.js';
import { isZone } from '../zone.js';
import { offsetAt } from './fire_times.js';

const PAUSE = 150; // ms without a keystroke
const BEFORE_CHANGE = 90 * 60_000;

/**
 * Asks `POST /v1/schedules/preview` when the rule has not changed for a moment; without a rule it does not. While it is asked, the last answer stays.
 * @returns {{rule: object|null, answer: object|null, problem: Error|null, changes: object[], asking: boolean}} `rule` is that of the
 *   answer; `changes` are the next two of its zone, each with the fire times from it on and the notes about it
 */
export function usePreview(rule, exclude = []) {
  const [state, setState] = useState({ rule: null, answer: null, problem: null, changes: [], asking: true });
  const latest = useRef(0);
  const key = JSON.stringify([rule, exclude]);
  useEffect(() => {
    const number = (latest.current += 1);
    const show = (next) => number === latest.current && setState((before) => ({ ...before, asking: false, ...next }));
    if (!rule) return undefined;
    setState((before) => ({ ...before, asking: true }));
    const timer = setTimeout(() => preview(rule, exclude).then(show, (problem) => show({ problem })), PAUSE);
    return () => {
      clearTimeout(timer);
      latest.current += 1;
    };
  }, [key]);
  return state;
}

async function preview(rule, exclude) {
  const answer = await post('schedules/preview', { rule, exclude });
  return { rule, answer, problem: null, changes: rule.type === 'cron' && isZone(rule.timezone) ? await clockChanges(rule, exclude) : [] };
}

/** Returns the next two changes of the clock, each with the first fire times from it on, and the notes about it. */
export async function clockChanges(rule, exclude) {
  const changes = changesAfter((at) => offsetAt(at, rule.timezone), serverNow());
  return Promise.all(changes.map(async (change) => {
    const after = new Date(change.at - BEFORE_CHANGE).toISOString();
    const { fire_times: all, daylight_saving: notes } = await post('schedules/preview', { rule, exclude, after, count: 100 });
    const end = change.at + BEFORE_CHANGE;
    return { ...change, next: all.find((at) => Date.parse(at) >= change.at) ?? null, notes: notes.filter(({ at }) => Date.parse(at) <= end) };
  }));
}
