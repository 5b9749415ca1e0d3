import { Button } from '../button.js';
import type { Column } from './column.js';

interface ExportButtonsProps<Row> {
  /** Name of the file, without its extension. */
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  /** All rows of the table as filtered and sorted, shown or not. */
  readonly rows: readonly Row[];
}

/** Buttons that save the rows of a table as CSV and as JSON: the columns that have a value. */
export function ExportButtons<Row>({ name, columns, rows }: ExportButtonsProps<Row>) {
  const fields = columns.flatMap(({ id, value }) => (value ? [{ id, value }] : []));
  const saveCsv = () => {
    const lines = rows.map((row) => fields.map(({ value }) => value(row)));
    saveFile(`${name}.csv`, 'text/csv', toCsv([fields.map(({ id }) => id), ...lines]));
  };
  const saveJson = () => {
    const data = rows.map((row) => Object.fromEntries(fields.map(({ id, value }) => [id, value(row)])));
    saveFile(`${name}.json`, 'application/json', `${JSON.stringify(data, null, 2)}\n`);
  };
  return (
    <span class="export" role="group" aria-label="Export">
      <Button small icon="save" disabled={rows.length === 0} onClick={saveCsv}>
        CSV
      </Button>
      <Button small icon="save" disabled={rows.length === 0} onClick={saveJson}>
        JSON
      </Button>
    </span>
  );
}

/** CSV text (RFC 4180) of lines of cells; null is an empty cell. */
function toCsv(lines: readonly (readonly (string | number | null)[])[]): string {
  return lines.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
}

function cellOf(value: string | number | null): string {
  if (typeof value === 'number') return String(value);
  const text = guarded(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Text that spreadsheets do not take for a formula, since callers choose names. */
function guarded(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

/** Saves a text as a file, as if it had been downloaded. */
function saveFile(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000); // browsers read it after the click
}
