import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { Icon } from '../../ui/icon.js';
import { useModal } from '../../ui/dialog/dialog.js';
import type { Destination } from '../console-page.js';
import { closeOverlay } from '../overlay.js';
import type { Command, UseCommands } from './command.js';
import { requestCommands, useCommands } from './commands.js';
import { matching } from './match.js';

interface PaletteProps {
  readonly pages: readonly Destination[];
  readonly commands: readonly UseCommands[];
}

/** Search over pages, actions, keys, slots and requests: a combobox in a modal dialog. */
export function Palette({ pages, commands: ofFeatures }: PaletteProps) {
  const ref = useModal();
  const listId = useId();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const commands = useCommands(pages, ofFeatures);
  const found = useMemo(() => [...matching(commands, text), ...requestCommands(text)], [commands, text]);
  const at = Math.min(chosen, found.length - 1);
  const run = (command: Command | undefined) => {
    if (!command) return;
    closeOverlay();
    command.run();
  };
  const onKey = (event: KeyboardEvent) => {
    const step = steps[event.key];
    if (step !== undefined && found.length > 0) setChosen((at + step + found.length) % found.length);
    else if (event.key === 'Enter' && !event.isComposing) run(found[at]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={ref}
      class="dialog palette"
      aria-label="Command palette"
      closedby="any"
      onCancel={(event) => {
        event.preventDefault();
        closeOverlay();
      }}
    >
      <Field
        text={text}
        list={{ listId, isOpen: found.length > 0, chosenId: found[at] && `${listId}-${at}` }}
        onText={(next) => {
          setText(next);
          setChosen(0);
        }}
        onKey={onKey}
      />
      <Results listId={listId} found={found} at={at} onChoose={run} />
    </dialog>
  );
}

const steps: Readonly<Record<string, 1 | -1>> = { ArrowDown: 1, ArrowUp: -1 };

interface FieldProps {
  readonly text: string;
  readonly list: { readonly listId: string; readonly isOpen: boolean; readonly chosenId: string | undefined };
  readonly onText: (text: string) => void;
  readonly onKey: (event: KeyboardEvent) => void;
}

function Field({ text, list, onText, onKey }: FieldProps) {
  return (
    <div class="palette-field">
      <Icon name="search" />
      <input
        type="text"
        role="combobox"
        aria-label="Search pages, actions, keys, slots and requests"
        placeholder="Page, action, key, slot or request id"
        aria-expanded={list.isOpen}
        aria-controls={list.listId}
        aria-activedescendant={list.chosenId}
        aria-autocomplete="list"
        autocomplete="off"
        spellcheck={false}
        maxLength={200}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
        onKeyDown={onKey}
      />
    </div>
  );
}

interface ResultsProps {
  readonly listId: string;
  readonly found: readonly Command[];
  readonly at: number;
  readonly onChoose: (command: Command) => void;
}

function Results({ listId, found, at, onChoose }: ResultsProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [at, found]);
  const groups = [...new Set(found.map(({ group }) => group))];
  return (
    <div class="palette-results" id={listId} role="listbox" aria-label="Results" ref={list}>
      {groups.map((group) => (
        <div key={group} role="group" aria-label={group}>
          <p aria-hidden="true">{group}</p>
          {found.map((command, index) =>
            command.group === group ? (
              <Result
                key={command.id}
                id={`${listId}-${index}`}
                command={command}
                isChosen={index === at}
                onChoose={onChoose}
              />
            ) : null,
          )}
        </div>
      ))}
      {found.length === 0 && <p role="status">Nothing of that name.</p>}
    </div>
  );
}

interface ResultProps {
  readonly id: string;
  readonly command: Command;
  readonly isChosen: boolean;
  readonly onChoose: (command: Command) => void;
}

function Result({ id, command, isChosen, onChoose }: ResultProps) {
  const { text, icon, note } = command;
  return (
    // The input has the keyboard: arrows choose, and Enter runs.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
    <div
      id={id}
      class="palette-result"
      role="option"
      aria-selected={isChosen}
      onClick={() => onChoose(command)}
    >
      <Icon name={icon} size={17} />
      <span class="name">{text}</span>
      {note && <kbd>{note}</kbd>}
    </div>
  );
}
