// The client of all tests here, and what several of them say. Needs BIGTABLE_EMULATOR_HOST, which node_test.py sets.
import assert from 'node:assert/strict';
import {Bigtable} from '@google-cloud/bigtable';

export const bigtable = new Bigtable({projectId: 'p', metricsEnabled: false});
export const instance = bigtable.instance('i');

// A new table, by itself, with families f and g.
export async function newTable(id, families = ['f', 'g']) {
  const [table] = await instance.createTable(id, {families});
  return table;
}

// Rows as text: "key f:q@micros=value f:q@micros=value#label".
export function text(rows) {
  return rows.map(row => {
    const cells = [];
    for (const [family, columns] of Object.entries(row.data)) {
      for (const [qualifier, versions] of Object.entries(columns)) {
        for (const {timestamp, value, labels} of versions) {
          cells.push(`${family}:${qualifier}@${timestamp}=${value}${labels.map(label => '#' + label).join('')}`);
        }
      }
    }
    return [row.id, ...cells].join(' ');
  });
}

export async function read(table, options = {}) {
  const [rows] = await table.getRows(options);
  return text(rows);
}

export const codes = {INVALID_ARGUMENT: 3, NOT_FOUND: 5, ALREADY_EXISTS: 6, FAILED_PRECONDITION: 9, UNIMPLEMENTED: 12};

export async function fails(promise, code) {
  await assert.rejects(promise, error => {
    assert.equal(error.code, code, error.message);
    return true;
  });
}

// Cells at whole milliseconds, for what does not ask for the time.
export function cell(value, millis = 1) {
  return {value, timestamp: millis * 1000};
}
