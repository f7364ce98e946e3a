// Each kind of filter that the client can build.
import assert from 'node:assert/strict';
import {before, test} from 'node:test';
import {cell, codes, fails, newTable, read} from './client.mjs';

let table;
const all = ['r1 f:a@2000=two f:a@1000=one f:b@1000=b g:a@1000=one', 'r2 f:a@1000=other'];

before(async () => {
  table = await newTable('filters');
  await table.insert([
    {key: 'r1', data: {f: {a: cell('two', 2), b: cell('b')}, g: {a: cell('one')}}},
    {key: 'r1', data: {f: {a: cell('one', 1)}}},
    {key: 'r2', data: {f: {a: cell('other')}}},
  ]);
});

const cases = [
  ['all', {all: true}, all],
  ['nothing', {all: false}, []],
  ['row by pattern', {row: /.*2/}, [all[1]]],
  ['row by text', {row: 'r1'}, [all[0]]],
  ['row sample of all', {row: {sample: 0.9999999}}, all],
  ['row cell limit', {row: {cellLimit: 2}}, ['r1 f:a@2000=two f:a@1000=one', all[1]]],
  ['row cell offset', {row: {cellOffset: 2}}, ['r1 f:b@1000=b g:a@1000=one']],
  ['family', {family: 'g'}, ['r1 g:a@1000=one']],
  ['family by pattern', {family: /[fg]/}, all],
  ['column', {column: 'b'}, ['r1 f:b@1000=b']],
  ['column by pattern', {column: /[bc]/}, ['r1 f:b@1000=b']],
  ['column cell limit', {column: {cellLimit: 1}}, ['r1 f:a@2000=two f:b@1000=b g:a@1000=one', all[1]]],
  ['column range', {column: {family: 'f', start: 'a', end: {value: 'b', inclusive: false}}}, ['r1 f:a@2000=two f:a@1000=one', all[1]]],
  ['value', {value: 'one'}, ['r1 f:a@1000=one g:a@1000=one']],
  ['value by pattern', {value: /o.*/}, ['r1 f:a@1000=one g:a@1000=one', all[1]]],
  ['value range', {value: {start: 'one', end: {value: 'two', inclusive: false}}}, ['r1 f:a@1000=one g:a@1000=one', all[1]]],
  ['value stripped', [{family: 'g'}, {value: {strip: true}}], ['r1 g:a@1000=']],
  ['time', {time: {start: new Date(2), end: new Date(3)}}, ['r1 f:a@2000=two']],
  ['label', [{column: 'b'}, {label: 'marked'}], ['r1 f:b@1000=b#marked']],
  ['interleave', {interleave: [[{column: 'b'}], [{value: 'one'}, {family: 'g'}]]}, ['r1 f:b@1000=b g:a@1000=one']],
  ['interleave with duplicates', {interleave: [[{column: 'b'}], [{column: 'b'}, {label: 'again'}]]}, ['r1 f:b@1000=b f:b@1000=b#again']],
  ['chain', [{family: 'f'}, {column: 'a'}, {column: {cellLimit: 1}}], ['r1 f:a@2000=two', all[1]]],
  ['condition', {condition: {test: [{family: 'g'}], pass: [{column: 'b'}], fail: [{all: true}]}}, ['r1 f:b@1000=b', all[1]]],
  ['condition without a branch', {condition: {test: [{family: 'g'}], pass: [{all: true}]}}, [all[0]]],
  ['sink', [{interleave: [[{column: 'b'}, {sink: true}], [{all: true}]]}, {family: 'g'}], ['r1 f:b@1000=b g:a@1000=one']],
];

for (const [name, filter, rows] of cases) {
  test(name, async () => assert.deepEqual(await read(table, {filter}), rows));
}

test('wrong filters', async () => {
  await fails(table.getRows({filter: {row: '('}}), codes.INVALID_ARGUMENT);
  await fails(table.getRows({filter: [{label: 'NO CAPITALS'}]}), codes.INVALID_ARGUMENT);
  await fails(table.getRows({filter: {column: {family: 'f', start: 'b', end: 'a'}}}), codes.INVALID_ARGUMENT);
});
