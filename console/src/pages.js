/** The page of each path. */
import { Overview } from './pages/overview.js';
import { Tasks } from './pages/tasks.js';
import { lazy } from './parts/lazy.js';

const ofTask = (name) => lazy(() => import('./pages/task_pages.js'), name);

export const PAGES = [
  { path: '/', title: 'Overview', page: Overview },
  { path: '/tasks', title: 'Tasks', page: Tasks },
  { path: '/tasks/:id', title: 'Task', page: ofTask('Task') },
  { path: '/dead', title: 'Dead letters', page: ofTask('Dead') },
  { path: '/new', title: 'New task', page: ofTask('New') },
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
];
