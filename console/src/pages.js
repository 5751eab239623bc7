/** The page of each path. */
import { Overview } from './pages/overview.js';
import { Tasks } from './pages/tasks.js';
import { Task } from './pages/task.js';
import { Dead } from './pages/dead.js';
import { New } from './pages/new.js';

export const PAGES = [
  { path: '/', title: 'Overview', page: Overview },
  { path: '/tasks', title: 'Tasks', page: Tasks },
  { path: '/tasks/:id', title: 'Task', page: Task },
  { path: '/dead', title: 'Dead letters', page: Dead },
  { path: '/new', title: 'New task', page: New },
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
