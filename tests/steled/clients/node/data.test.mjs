// Rows: written one by one and in bulk, read by key, range and stream, changed conditionally.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {cell, codes, fails, instance, newTable, read, text} from './client.mjs';

test('insert and read rows', async () => {
  const table = await newTable('insert');
  await table.insert([
    {key: 'b', data: {f: {q: cell('two')}, g: {'': cell('empty qualifier')}}},
    {key: 'a', data: {f: {q: cell('old', 1)}}},
    {key: 'a', data: {f: {q: cell('new', 2)}}},
  ]);
  assert.deepEqual(await read(table), ['a f:q@2000=new f:q@1000=old', 'b f:q@1000=two g:@1000=empty qualifier']);
  const [row] = await table.row('a').get();
  assert.deepEqual(text([row]), ['a f:q@2000=new f:q@1000=old']);
  assert.deepEqual(await table.row('a').exists(), [true]);
  assert.deepEqual(await table.row('none').exists(), [false]);
  await assert.rejects(table.row('none').get(), /Unknown row/);
  const [column] = await table.row('a').get(['f:q']);
  assert.equal(column.f.q[0].value, 'new');
});

test('bytes and numbers come back as they went', async () => {
  const table = await newTable('bytes');
  const bytes = Buffer.from(Array.from({length: 256}, (_, i) => i));
  await table.insert({key: 'r', data: {f: {bytes: cell(bytes), number: cell(1234567890123), negative: cell(-5)}}});
  const [rows] = await table.getRows({decode: false});
  assert.deepEqual(Buffer.from(rows[0].data.f.bytes[0].value), bytes);
  const [numbers] = await table.getRows();
  assert.equal(numbers[0].data.f.number[0].value, 1234567890123);
  assert.equal(numbers[0].data.f.negative[0].value, -5);
});

test('timestamps: given ones, the client\'s clock, and those that do not fit', async () => {
  const table = await newTable('timestamps');
  await table.insert({key: 'date', data: {f: {q: {value: 'v', timestamp: new Date(86400000)}}}});
  assert.deepEqual(await read(table), ['date f:q@86400000000=v']);
  const before = Date.now() - 1000;
  await table.insert({key: 'now', data: {f: {q: 'v'}}});
  const [row] = await table.row('now').get();
  const micros = Number(row.data.f.q[0].timestamp);
  assert.ok(micros % 1000 === 0 && micros / 1000 >= before && micros / 1000 <= Date.now() + 1000, `${micros}`);
  // The client sends rows in bulk, where a wrong entry refuses the request.
  await fails(table.mutate({key: 'r', method: 'insert', data: {f: {q: {value: 'v', timestamp: 1234567}}}}), codes.INVALID_ARGUMENT);
});

test('mutations: insert, delete a row, a family, a column and some of its versions', async () => {
  const table = await newTable('mutate');
  const data = {f: {a: cell('1', 1), b: cell('b')}, g: {c: cell('c')}};
  await table.insert(['all', 'family', 'column', 'versions'].map(key => ({key, data})));
  await table.insert([2, 3].map(millis => ({key: 'versions', data: {f: {a: cell(`${millis}`, millis)}}})));
  await table.mutate([
    {method: 'delete', key: 'all'},
    {method: 'delete', key: 'family', data: ['f']},
    {method: 'delete', key: 'column', data: ['f:a']},
    {method: 'delete', key: 'versions', data: [{column: 'f:a', time: {start: new Date(1), end: new Date(3)}}]},
    {method: 'insert', key: 'new', data: {g: {c: cell('c')}}},
  ]);
  assert.deepEqual(await read(table), [
    'column f:b@1000=b g:c@1000=c', 'family g:c@1000=c', 'new g:c@1000=c', 'versions f:a@3000=3 f:b@1000=b g:c@1000=c',
  ]);
  await table.row('new').delete();
  await table.row('column').deleteCells(['f:b']);
  await table.row('versions').save({g: {c: cell('d', 2)}});
  assert.deepEqual(await read(table), ['column g:c@1000=c', 'family g:c@1000=c', 'versions f:a@3000=3 f:b@1000=b g:c@2000=d g:c@1000=c']);
});

test('bulk writes answer for each entry', async () => {
  const table = await newTable('entries');
  const entries = ['a', 'b', 'c'].map(key => ({key, data: {[key === 'b' ? 'none' : 'f']: {q: cell('v')}}}));
  await assert.rejects(table.insert(entries), error => {
    assert.equal(error.name, 'PartialFailureError');
    assert.equal(error.errors.length, 1);
    assert.equal(error.errors[0].code, codes.NOT_FOUND);
    assert.equal(error.errors[0].entry.key, 'b');
    assert.match(error.errors[0].message, /Requested column family not found/);
    return true;
  });
  assert.deepEqual(await read(table), ['a f:q@1000=v', 'c f:q@1000=v']);
  await fails(table.insert([{key: 'x'.repeat(4097), data: {f: {q: cell('v')}}}]), codes.INVALID_ARGUMENT);
});

test('keys, ranges, prefixes and limits', async () => {
  const table = await newTable('ranges');
  await table.insert(['a', 'b', 'ba', 'c', 'd'].map(key => ({key, data: {f: {q: cell('v')}}})));
  const keys = async options => (await table.getRows(options))[0].map(row => row.id);
  assert.deepEqual(await keys({keys: ['d', 'a', 'none', 'a']}), ['a', 'd']);
  assert.deepEqual(await keys({start: 'b', end: 'c'}), ['b', 'ba', 'c']);
  assert.deepEqual(await keys({ranges: [{start: {value: 'a', inclusive: false}, end: {value: 'c', inclusive: false}}]}), ['b', 'ba']);
  assert.deepEqual(await keys({ranges: [{start: 'c'}, {end: 'a'}], keys: ['ba']}), ['a', 'ba', 'c', 'd']);
  assert.deepEqual(await keys({prefix: 'b'}), ['b', 'ba']);
  assert.deepEqual(await keys({prefixes: ['d', 'a']}), ['a', 'd']);
  assert.deepEqual(await keys({limit: 2}), ['a', 'b']);
  assert.deepEqual(await keys({start: 'x', end: 'z'}), []);
  await fails(table.getRows({start: 'c', end: 'a'}), codes.INVALID_ARGUMENT);
});

test('increments, appends and rules', async () => {
  const table = await newTable('rules');
  const row = table.row('r');
  assert.equal((await row.increment('f:n'))[0], 1);
  await row.increment('f:n', 41);
  assert.equal((await row.get(['f:n']))[0].f.n[0].value, 42);
  await row.createRules([{column: 'f:text', append: 'one'}, {column: 'f:text', append: ' two'}, {column: 'f:n', increment: -2}]);
  const [data] = await row.get(['f:n', 'f:text']);
  assert.equal(data.f.n[0].value, 40);
  assert.equal(data.f.text[0].value, 'one two');
  await fails(row.createRules([{column: 'f:text', increment: 1}]), codes.FAILED_PRECONDITION);
  await fails(row.createRules([{column: 'none:q', append: 'v'}]), codes.NOT_FOUND);
});

test('check and mutate', async () => {
  const table = await newTable('check');
  const row = table.row('r');
  const onMatch = [{method: 'insert', data: {f: {was: cell('there')}}}];
  const onNoMatch = [{method: 'insert', data: {f: {was: cell('not there')}}}];
  assert.equal((await row.filter([{family: 'f'}], {onMatch, onNoMatch}))[0], false);
  assert.deepEqual(await read(table), ['r f:was@1000=not there']);
  assert.equal((await row.filter([{family: 'f'}], {onMatch, onNoMatch}))[0], true);
  assert.deepEqual(await read(table), ['r f:was@1000=there']);
  assert.equal((await row.filter([{value: 'other'}], {onMatch: [{method: 'delete'}]}))[0], false);
  assert.equal((await row.filter([{value: 'there'}], {onMatch: [{method: 'delete'}]}))[0], true);
  assert.deepEqual(await read(table), []);
});

test('streams of large rows, which may be ended early', async () => {
  const table = await newTable('large');
  const value = Buffer.alloc(3 << 20, 'x');
  for (let i = 0; i < 4; ++i) await table.insert({key: `r${i}`, data: {f: {large: cell(value), small: cell(`${i}`)}}});
  let rows = 0;
  for await (const row of table.createReadStream({decode: false})) {
    assert.equal(row.id.toString(), `r${rows++}`);
    assert.ok(Buffer.from(row.data.f.large[0].value).equals(value));
  }
  assert.equal(rows, 4);
  for await (const row of table.createReadStream()) {
    assert.equal(row.id, 'r0');
    break;
  }
});

test('many rows', async () => {
  const table = await newTable('many');
  const keyOf = i => `r${String(i).padStart(5, '0')}`;
  for (let begin = 0; begin < 20000; begin += 5000) {
    await table.insert(Array.from({length: 5000}, (_, i) => ({key: keyOf(begin + i), data: {f: {q: cell(`${begin + i}`)}}})));
  }
  let next = 0;
  for await (const row of table.createReadStream()) {
    assert.equal(row.id, keyOf(next));
    assert.equal(row.data.f.q[0].value, `${next++}`);
  }
  assert.equal(next, 20000);
  const [samples] = await table.sampleRowKeys();
  assert.ok(samples.length >= 1);
  await table.deleteRows('r1');
  assert.equal((await table.getRows({keys: [keyOf(9999), keyOf(10000)]}))[0].length, 1);
  await table.truncate();
  assert.deepEqual(await read(table, {limit: 1}), []);
});

test('what is not there', async () => {
  await fails(instance.table('none').getRows(), codes.NOT_FOUND);
  await fails(instance.table('none').insert([{key: 'r', data: {f: {q: cell('v')}}}]), codes.NOT_FOUND);
});
