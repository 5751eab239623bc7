/** Pages that are loaded together when one of them is opened. */
export { Dead } from './dead.js';
export { New } from './new.js';
export { Task } from './task.js';
