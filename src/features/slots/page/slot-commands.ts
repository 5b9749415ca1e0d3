import type { Command } from '../../../console/web/shell/palette/command.js';
import { navigate } from '../../../console/web/state/location.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { fetchSlots, type Slot } from './api.js';

/** Commands of the palette for slots: to find one, and its requests. */
export function useSlotCommands(): readonly Command[] {
  const { data: slots = [] } = useResource('palette slots', fetchSlots);
  return [...slots.map(slotCommand), ...slots.map(slotRequests)];
}

function slotCommand({ id }: Slot): Command {
  return {
    id: `slot ${id}`,
    group: 'Slots',
    text: id,
    icon: 'slots',
    run: () => navigate(`/slots?q=${encodeURIComponent(id)}`),
  };
}

function slotRequests({ id }: Slot): Command {
  return {
    id: `requests of slot ${id}`,
    group: 'Requests',
    text: `Requests of ${id}`,
    icon: 'requests',
    words: 'slot',
    run: () => navigate(`/requests?slot=${encodeURIComponent(id)}`),
  };
}
