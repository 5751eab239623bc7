import { h } from 'preact';
import htm from 'htm';

export { Fragment, createContext, render } from 'preact';
export { useCallback, useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
export { batch, computed, effect, signal, untracked, useComputed, useSignal } from '@preact/signals';
export const html = htm.bind(h);
