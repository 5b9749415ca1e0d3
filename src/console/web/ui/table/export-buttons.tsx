import { saveFile } from '../../state/save-file.js';
import { toCsv } from '../../format/csv.js';
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
