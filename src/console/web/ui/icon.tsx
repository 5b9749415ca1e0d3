const paths = {
  overview: 'M4 19V5m0 14h16M8 15v-4m4 4V7m4 8v-6',
  slots: 'M4 5h16v5H4zM4 14h16v5H4zM7.5 7.5h.01M7.5 16.5h.01',
  keys: 'M15 9a4 4 0 1 0-4.6 3.95L4 19v2h3v-2h2v-2h2l1.5-1.5A4 4 0 0 0 15 9zM11.5 8.5h.01',
  team: 'M9 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM3 20a6 6 0 0 1 12 0M16 5.5a3 3 0 0 1 0 6M17.5 15a5 5 0 0 1 3.5 5',
  requests: 'M4 6h16M4 12h16M4 18h10',
  pipeline: 'M6 4v3m0 4v2m0 4v3M3 7h6v4H3zM3 13h6v4H3zM13 9h8M13 15h8',
  connect: 'M9 7V3m6 4V3M6 7h12v4a6 6 0 0 1-12 0zM12 17v4',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2m0 16v2M4.9 4.9l1.4 1.4m11.4 11.4 1.4 1.4M2 12h2m16 0h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z',
  auto: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 0v18M12 8h7M12 12h9m-9 4h7',
  person: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4.5 20a7.5 7.5 0 0 1 15 0',
  leave: 'M14 4H6v16h8M10 12h10m-3-3 3 3-3 3',
  rotate: 'M4 12a8 8 0 0 1 13.7-5.6L20 9M20 4v5h-5M20 12a8 8 0 0 1-13.7 5.6L4 15M4 20v-5h5',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  close: 'm6 6 12 12M18 6 6 18',
  plus: 'M12 5v14M5 12h14',
  pause: 'M9 5v14m6-14v14',
  play: 'M7 5v14l12-7z',
  drain: 'M12 3s6 6.5 6 11a6 6 0 0 1-12 0c0-4.5 6-11 6-11z',
  pulse: 'M3 12h4l3-7 4 14 3-7h4',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
  bin: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5m4-5v5',
  warn: 'M12 4 2.5 20h19zM12 10v4m0 3h.01',
  wait: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3 2',
  stop: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM8 8l8 8',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  back: 'm14 6-6 6 6 6',
  next: 'm10 6 6 6-6 6',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4M9 12h6m-6 4h6',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zm5 12 5 5',
  switch: 'M8 7h8a5 5 0 0 1 0 10H8A5 5 0 0 1 8 7zM8 10a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
  sort: 'm8 9 4-4 4 4M8 15l4 4 4-4',
  up: 'm6 15 6-6 6 6',
  down: 'm6 9 6 6 6-6',
  save: 'M12 4v10m-4-4 4 4 4-4M5 19h14',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  filter: 'M4 6h16M7 12h10M10 18h4',
  calendar: 'M4 6h16v14H4zM4 10h16M8 3v4m8-4v4',
  cache:
    'M12 4c4.4 0 8 1.3 8 3s-3.6 3-8 3-8-1.3-8-3 3.6-3 8-3zM4 7v10c0 1.7 3.6 3 8 3s8-1.3 8-3V7M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3',
  command: 'M9 9h6v6H9zM9 9V7a2 2 0 1 0-2 2zm6 0h2a2 2 0 1 0-2-2zm0 6v2a2 2 0 1 0 2-2zm-6 0H7a2 2 0 1 0 2 2z',
} as const;

export type IconName = keyof typeof paths;

/** Decorative icon beside text or in a labelled button, hidden from screen readers. */
export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
