/** The page of each path. */
import { Overview } from './pages/overview.js';
import { Tasks } from './pages/tasks.js';
import { Task } from './pages/task.js';
import { Dead } from './pages/dead.js';
import { New } from './pages/new.js';
import { Cron } from './pages/cron.js';
import { Forecast } from './pages/forecast.js';
import { Lanes } from './pages/lanes.js';
import { Limits } from './pages/limits.js';
import { EditSchedule, NewSchedule } from './pages/new_schedule.js';
import { Run } from './pages/run.js';
import { Runs } from './pages/runs.js';
import { Schedule } from './pages/schedule.js';
import { Schedules } from './pages/schedules.js';
import { Settings } from './pages/settings.js';
import { Workflow } from './pages/workflow.js';
import { Workflows } from './pages/workflows.js';

export const PAGES = [
  { path: '/', title: 'Overview', page: Overview },
  { path: '/tasks', title: 'Tasks', page: Tasks },
  { path: '/tasks/:id', title: 'Task', page: Task },
  { path: '/dead', title: 'Dead letters', page: Dead },
  { path: '/new', title: 'New task', page: New },
  { path: '/schedules', title: 'Schedules', page: Schedules },
  { path: '/schedules/new', title: 'New schedule', page: NewSchedule },
  { path: '/schedules/:id', title: 'Schedule', page: Schedule },
  { path: '/schedules/:id/edit', title: 'Change a schedule', page: EditSchedule },
  { path: '/cron', title: 'Cron builder', page: Cron },
  { path: '/runs', title: 'Runs', page: Runs },
  { path: '/runs/:id', title: 'Run', page: Run },
  { path: '/workflows', title: 'Workflows', page: Workflows },
  { path: '/workflows/:name', title: 'Workflow', page: Workflow },
  { path: '/lanes', title: 'Lanes', page: Lanes },
  { path: '/limits', title: 'Limits', page: Limits },
  { path: '/forecast', title: 'Forecast', page: Forecast },
  { path: '/settings', title: 'Settings', page: Settings },
];

/** The links of the header: path, name, key after `g`. */
export const NAVIGATION = [
  ['/', 'Overview', 'o'],
  ['/tasks', 'Tasks', 't'],
  ['/schedules', 'Schedules', 's'],
  ['/runs', 'Runs', 'r'],
  ['/dead', 'Dead', 'd'],
  ['/lanes', 'Lanes', 'l'],
  ['/limits', 'Limits', null],
  ['/forecast', 'Forecast', null],
  ['/docs', 'API', null],
];
