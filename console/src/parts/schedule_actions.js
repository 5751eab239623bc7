/** What can be done to a schedule. */
import { html, useRef } from '../vendor/preact.js';
import { post, remove } from '../api.js';
import { serverNow } from '../clock.js';
import { counted } from '../format.js';
import { momentOf } from '../models/clock_changes.js';
import { navigate, to } from '../router.js';
import { inputTime, zoneLabel } from '../zone.js';
import { confirm } from './confirm.js';
import { offsetAt } from './fire_times.js';
import { toast } from './toast.js';

const DAY = 86_400_000;

/** @param {{schedule: object, onChange: () => Promise<void>}} props `onChange` reads the schedule again */
export function ScheduleActions({ schedule, onChange }) {
  const { id, status } = schedule;
  const isCode = schedule.origin === 'code';
  const call = async (action, body, words) => {
    await post(`schedules/${id}/${action}`, body);
    toast(words);
    await onChange();
  };
  const note = useRef(null);
  const noteText = () => (note.current.value.trim() ? { note: note.current.value.trim() } : {});
  const pause = () => confirm({
    title: 'Pause this schedule?',
    text: html`<p>No run starts until it is resumed. Fire times until then are in the ledger as paused; runs that have started go on.</p>
      <label class="field"><span>Note</span><input ref=${note} maxlength="256" placeholder="why, and who" /></label>`,
    action: 'Pause',
    run: () => call('pause', noteText(), 'Paused'),
  });
  const resume = () => act(() => call('resume', {}, 'Resumed'));
  const runNow = () => confirm({
    title: 'Run it once, now?',
    text: html`<p>The run is outside of the rule. It waits if runs must not overlap, and it runs while the schedule is paused.</p>`,
    action: 'Run now',
    run: async () => {
      const task = await post(`schedules/${id}/trigger`, {});
      toast('Submitted');
      navigate(to(`/tasks/${task.id}`));
    },
  });
  const detach = () => confirm({
    title: 'Detach it from the code?',
    text: html`<p>It becomes an ordinary schedule, which can be changed and deleted here. The code no longer changes it.</p>`,
    action: 'Detach',
    run: () => call('detach', {}, 'Detached'),
  });
  const erase = () => confirm({
    title: `Delete ${schedule.name || 'this schedule'}?`,
    text: html`<p>Its ledger is deleted too, and runs that have not started are cancelled.</p>`,
    action: 'Delete', danger: true,
    run: async () => {
      await remove(`schedules/${id}`);
      toast('Deleted');
      navigate(to('/schedules'));
    },
  });
  const backfill = useBackfill(schedule);
  return html`
    ${status === 'active' && html`<button onClick=${pause}>Pause…</button>`}
    ${['paused', 'broken'].includes(status) && html`<button class="primary" onClick=${resume}>Resume</button>`}
    <button onClick=${runNow}>Run now…</button>
    ${schedule.rule?.type !== 'delay' && html`<button onClick=${backfill}>Backfill…</button>`}
    ${isCode ? html`<button onClick=${detach}>Detach…</button>` : html`
      <a class="button" href=${to(`/schedules/${id}/edit`)}>Change</a>
      <button onClick=${erase}>Delete…</button>`}`;
}

async function act(run) {
  try {
    await run();
  } catch (problem) {
    toast(problem.message, 'red');
  }
}

/** Returns what asks for a span in the past, and runs its fire times. */
function useBackfill({ id, overlap }) {
  const form = useRef(null);
  return () => {
    const moment = (text) => new Date(momentOf(text, (at) => offsetAt(at))).toISOString();
    const field = (name) => form.current.elements[name].value;
    return confirm({
      title: 'Run the fire times of a span',
      text: html`
        <p>Each fire time of the rule in it runs, in order. Times are in ${zoneLabel.value}.</p>
        <form ref=${form} class="fields" onSubmit=${(event) => event.preventDefault()}>
          <label class="field"><span>From</span><input type="datetime-local" name="from" defaultValue=${inputTime(serverNow() - DAY)} /></label>
          <label class="field"><span>Until</span><input type="datetime-local" name="to" defaultValue=${inputTime(serverNow())} /></label>
          <label class="field"><span>Runs</span><select name="overlap">
            <option value="">as the schedule: ${overlap}</option><option value="allow">side by side</option><option value="queue">one after another</option></select></label>
          <label class="field"><span>At most a minute</span><input type="number" name="per_minute" min="1" max="6000" defaultValue="60" /></label>
        </form>`,
      action: 'Backfill',
      run: async () => {
        const { fire_times: runs } = await post(`schedules/${id}/backfill`, {
          from: moment(field('from')), to: moment(field('to')), per_minute: Number(field('per_minute')),
          ...(field('overlap') && { overlap: field('overlap') }),
        });
        toast(`${counted(runs, 'fire time')} will run`);
      },
    });
  };
}
