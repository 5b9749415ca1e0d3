import { count } from '../../../console/web/format/numbers.js';
import { Meter } from '../../../console/web/ui/meter.js';
import { RelativeTime } from '../../../console/web/ui/time.js';
import type { Slot, Window } from './api.js';
import { ForecastLine, type Forecast } from './forecast.js';

/** Use of a slot: requests in flight, its usage windows, if any, and the sessions bound to it. */
export function SlotLoad({ slot }: { readonly slot: Slot }) {
  const { in_flight: inFlight, max_concurrent: max, windows, forecast, bindings } = slot;
  return (
    <div class="slot-load">
      <Gauge name="In flight" text={inFlightText(slot)} value={inFlight} max={max} />
      {windows['5h'] && <WindowGauge name="5 h window" window={windows['5h']} forecast={forecast['5h']} />}
      {windows['7d'] && <WindowGauge name="7 d window" window={windows['7d']} forecast={forecast['7d']} />}
      <p class="slot-sessions">
        <span>Sessions bound</span>
        <b class="num">{count(bindings)}</b>
      </p>
    </div>
  );
}

export function inFlightText({ in_flight: inFlight, max_concurrent: max, queued }: Slot): string {
  const waiting = queued > 0 ? `, ${count(queued)} waiting` : '';
  return `${count(inFlight)} of ${count(max)}${waiting}`;
}

/** Used part of a window: 12.5 % */
export function percentText(percent: number): string {
  return `${percent.toFixed(percent % 1 ? 1 : 0)} %`;
}

interface WindowGaugeProps {
  readonly name: string;
  readonly window: Window;
  readonly forecast: Forecast | null;
}

function WindowGauge({ name, window, forecast }: WindowGaugeProps) {
  const { percent_used: percent, resets_at: resetsAt } = window;
  return (
    <div class="gauge">
      <Gauge name={name} text={percentText(percent)} value={percent} max={100}>
        , resets <RelativeTime at={resetsAt} />
      </Gauge>
      {forecast && <ForecastLine forecast={forecast} />}
    </div>
  );
}

interface GaugeProps {
  readonly name: string;
  readonly text: string;
  readonly value: number;
  readonly max: number;
  readonly children?: preact.ComponentChildren;
}

function Gauge({ name, text, value, max, children }: GaugeProps) {
  return (
    <div class="gauge">
      <p>
        <span>{name}</span>
        <span class="num">
          {text}
          {children && <span class="dim">{children}</span>}
        </span>
      </p>
      <Meter label={name} value={value} max={max} text={text} />
    </div>
  );
}
