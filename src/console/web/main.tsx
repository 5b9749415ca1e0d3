import { render } from 'preact';
import './state/theme.js';
import { App } from './app.js';

const root = document.querySelector('#app');
if (root) render(<App />, root);
