/** The page of each path. */
import { Overview } from './pages/overview.js';
import { Tasks } from './pages/tasks.js';
import { lazy } from './parts/lazy.js';

const ofTask = (name) => lazy(() => import('./pages/task_pages.js'), name);
const ofSchedules = (name) => lazy(() => import('./pages/schedule_pages.js'), name);
const ofRuns = (name) => lazy(() => import('./pages/run_pages.js'), name);
const ofSystem = (name) => lazy(() => import('./pages/system_pages.js'), name);

export const PAGES = [
  { path: '/', title: 'Overview', page: Overview },
  { path: '/tasks', title: 'Tasks', page: Tasks },
  { path: '/tasks/:id', title: 'Task', page: ofTask('Task') },
  { path: '/dead', title: 'Dead letters', page: ofTask('Dead') },
  { path: '/new', title: 'New task', page: ofTask('New') },
  { path: '/schedules', title: 'Schedules', page: ofSchedules('Schedules') },
  { path: '/schedules/new', title: 'New schedule', page: ofSchedules('NewSchedule') },
  { path: '/schedules/:id', title: 'Schedule', page: ofSchedules('Schedule') },
  { path: '/schedules/:id/edit', title: 'Change a schedule', page: ofSchedules('EditSchedule') },
  { path: '/cron', title: 'Cron builder', page: ofSchedules('Cron') },
  { path: '/runs', title: 'Runs', page: ofRuns('Runs') },
  { path: '/runs/:id', title: 'Run', page: ofRuns('Run') },
  { path: '/workflows', title: 'Workflows', page: ofRuns('Workflows') },
  { path: '/workflows/:name', title: 'Workflow', page: ofRuns('Workflow') },
  { path: '/lanes', title: 'Lanes', page: ofSystem('Lanes') },
  { path: '/limits', title: 'Limits', page: ofSystem('Limits') },
  { path: '/forecast', title: 'Forecast', page: ofSystem('Forecast') },
  { path: '/workers', title: 'Workers', page: ofSystem('Workers') },
  { path: '/settings', title: 'Settings', page: ofSystem('Settings') },
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
