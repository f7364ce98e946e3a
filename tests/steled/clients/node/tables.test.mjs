// Tables, their families and rules, and backups of them.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {bigtable, cell, codes, fails, instance, newTable, read} from './client.mjs';

test('tables: create with splits, list, get, exists, delete', async () => {
  const [table] = await instance.createTable('admin', {families: ['f'], splits: [Buffer.from('m')]});
  await table.insert([{key: 'a', data: {f: {q: cell('v')}}}, {key: 'z', data: {f: {q: cell('v')}}}]);
  assert.deepEqual((await table.sampleRowKeys())[0].map(sample => sample.key.toString()), ['m', '']);
  assert.deepEqual(await table.exists(), [true]);
  assert.ok((await instance.getTables())[0].some(({id}) => id === 'admin'));
  assert.equal((await table.getMetadata())[0].name, 'projects/p/instances/i/tables/admin');
  assert.equal((await table.getReplicationStates())[0].size >= 0, true);
  assert.deepEqual(await table.waitForReplication(), [true]);
  await fails(instance.createTable('admin'), codes.ALREADY_EXISTS);
  assert.equal((await instance.table('auto').get({autoCreate: true}))[0].id, 'auto');
  await table.delete();
  assert.deepEqual(await table.exists(), [false]);
  await fails(table.delete(), codes.NOT_FOUND);
});

test('families and their rules', async () => {
  const [table] = await instance.createTable('families', {
    families: [{name: 'versions', rule: {versions: 2}}, {name: 'plain'}],
  });
  await table.createFamily('age', {rule: {age: {seconds: 86400, nanos: 0}}});
  await table.createFamily('either', {rule: {age: {seconds: 60, nanos: 0}, versions: 3, union: true}});
  await table.createFamily('both', {rule: {age: {seconds: 60, nanos: 0}, versions: 3}});
  const rules = async () => Object.fromEntries((await table.getFamilies())[0].map(family => [family.id, family.metadata.gcRule]));
  let found = await rules();
  assert.deepEqual(Object.keys(found).sort(), ['age', 'both', 'either', 'plain', 'versions']);
  assert.equal(found.versions.maxNumVersions, 2);
  assert.equal(Number(found.age.maxAge.seconds), 86400);
  assert.equal(found.either.union.rules.length, 2);
  assert.equal(found.both.intersection.rules.length, 2);
  await table.family('plain').setMetadata({rule: {versions: 1}});
  await table.family('age').delete();
  found = await rules();
  assert.equal(found.plain.maxNumVersions, 1);
  assert.equal(found.age, undefined);
  assert.deepEqual(await table.family('plain').exists(), [true]);
  assert.deepEqual(await table.family('age').exists(), [false]);
  await fails(table.createFamily('plain'), codes.ALREADY_EXISTS);
  await fails(table.family('none').delete(), codes.NOT_FOUND);
  await table.insert([1, 2, 3].map(millis => ({key: 'r', data: {versions: {q: cell(`${millis}`, millis)}}})));
  assert.deepEqual(await read(table), ['r versions:q@3000=3 versions:q@2000=2']);
});

test('instances are kept apart', async () => {
  await newTable('apart');
  assert.deepEqual(await bigtable.instance('other').table('apart').exists(), [false]);
  assert.deepEqual((await bigtable.instance('other').getTables())[0], []);
});

test('backups: create, list, get, change, restore, delete', async () => {
  const table = await newTable('backed');
  await table.insert({key: 'r', data: {f: {q: cell('before')}}});
  const expireTime = new Date(Date.now() + 7 * 86400 * 1000);
  const [backup, creation] = await table.createBackup('copy', {expireTime});
  await creation.promise();
  await table.insert({key: 'r', data: {f: {q: cell('after')}}});
  assert.deepEqual((await backup.cluster.getBackups())[0].map(({id}) => id), ['copy']);
  const listed = async (options) => (await backup.cluster.getBackups(options))[0].map(({id}) => id);
  assert.deepEqual(await listed({filter: 'state:READY AND source_table:backed', orderBy: 'start_time desc'}), ['copy']);
  assert.deepEqual(await listed({filter: 'name:other'}), []);
  const [metadata] = await backup.getMetadata();
  assert.equal(metadata.sourceTable, 'projects/p/instances/i/tables/backed');
  const later = new Date(Date.now() + 8 * 86400 * 1000);
  await backup.setMetadata({expireTime: later});
  assert.equal(Number((await backup.getMetadata())[0].expireTime.seconds), Math.floor(later.getTime() / 1000));
  const [restored, restoring] = await backup.restore('restored');
  await restoring.promise();
  assert.deepEqual(await read(restored), ['r f:q@1000=before']);
  await backup.delete();
  await fails(backup.getMetadata(), codes.NOT_FOUND);
});
