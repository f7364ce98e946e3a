// A client of gRPC's Java library, with stubs that protoc made: tables, rows, streams, cancellation, deadlines and errors.
//
// Usage: java SteledClient HOST:PORT. Exits with 1 and a stack trace at the first check that fails.

import com.google.protobuf.ByteString;
import google.bigtable.admin.v2.BigtableTableAdminGrpc;
import google.bigtable.admin.v2.TableAdmin;
import google.bigtable.admin.v2.TableOuterClass;
import google.bigtable.v2.BigtableGrpc;
import google.bigtable.v2.BigtableOuterClass;
import google.bigtable.v2.Data;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;

public final class SteledClient {
  private static final String INSTANCE = "projects/p/instances/i";
  private static final String TABLE = INSTANCE + "/tables/t";
  private static final int ROWS = 2000;

  private final BigtableGrpc.BigtableBlockingStub data;
  private final BigtableTableAdminGrpc.BigtableTableAdminBlockingStub admin;

  private SteledClient(ManagedChannel channel) {
    data = BigtableGrpc.newBlockingStub(channel);
    admin = BigtableTableAdminGrpc.newBlockingStub(channel);
  }

  private static void check(boolean holds, String what) {
    if (!holds) throw new AssertionError(what);
  }

  private static void expect(Status.Code code, Runnable call) {
    try {
      call.run();
    } catch (StatusRuntimeException error) {
      check(error.getStatus().getCode() == code, "expected " + code + ", got " + error.getStatus());
      return;
    }
    throw new AssertionError("expected " + code + ", and the call succeeded");
  }

  private static Data.Mutation setCell(ByteString value) {
    return Data.Mutation.newBuilder()
        .setSetCell(
            Data.Mutation.SetCell.newBuilder()
                .setFamilyName("f")
                .setColumnQualifier(ByteString.copyFromUtf8("q"))
                .setTimestampMicros(1000)
                .setValue(value))
        .build();
  }

  private static BigtableOuterClass.ReadRowsRequest.Builder read() {
    return BigtableOuterClass.ReadRowsRequest.newBuilder().setTableName(TABLE);
  }

  private void createTable() {
    TableAdmin.CreateTableRequest request =
        TableAdmin.CreateTableRequest.newBuilder()
            .setParent(INSTANCE)
            .setTableId("t")
            .setTable(
                TableOuterClass.Table.newBuilder()
                    .putColumnFamilies("f", TableOuterClass.ColumnFamily.getDefaultInstance()))
            .build();
    check(admin.createTable(request).getName().equals(TABLE), "the name of the new table");
    expect(Status.Code.ALREADY_EXISTS, () -> admin.createTable(request));
  }

  private void writeRows() {
    BigtableOuterClass.MutateRowsRequest.Builder request =
        BigtableOuterClass.MutateRowsRequest.newBuilder().setTableName(TABLE);
    ByteString value = ByteString.copyFrom(new byte[10_000]);
    for (int i = 0; i < ROWS; ++i) {
      request
          .addEntriesBuilder()
          .setRowKey(ByteString.copyFromUtf8(String.format("r%05d", i)))
          .addMutations(setCell(value));
    }
    int written = 0;
    Iterator<BigtableOuterClass.MutateRowsResponse> responses = data.mutateRows(request.build());
    while (responses.hasNext()) {
      for (BigtableOuterClass.MutateRowsResponse.Entry entry : responses.next().getEntriesList()) {
        if (entry.getStatus().getCode() == 0) ++written;
      }
    }
    check(written == ROWS, "written rows: " + written);
  }

  private int countRows(BigtableOuterClass.ReadRowsRequest request) {
    int count = 0;
    Iterator<BigtableOuterClass.ReadRowsResponse> responses = data.readRows(request);
    while (responses.hasNext()) {
      for (BigtableOuterClass.ReadRowsResponse.CellChunk chunk : responses.next().getChunksList()) {
        if (chunk.getCommitRow()) ++count;
      }
    }
    return count;
  }

  private void cancelAStream() {
    Context.CancellableContext context = Context.current().withCancellation();
    context.run(
        () -> {
          Iterator<BigtableOuterClass.ReadRowsResponse> responses = data.readRows(read().build());
          check(responses.hasNext(), "a stream without a message");
          context.cancel(null);
          expect(
              Status.Code.CANCELLED,
              () -> {
                while (responses.hasNext()) responses.next();
              });
        });
  }

  private void increment() {
    BigtableOuterClass.ReadModifyWriteRowRequest request =
        BigtableOuterClass.ReadModifyWriteRowRequest.newBuilder()
            .setTableName(TABLE)
            .setRowKey(ByteString.copyFromUtf8("n"))
            .addRules(Data.ReadModifyWriteRule.newBuilder().setFamilyName("f").setIncrementAmount(3))
            .build();
    data.readModifyWriteRow(request);
    ByteString value = data.readModifyWriteRow(request).getRow().getFamilies(0).getColumns(0).getCells(0).getValue();
    check(value.asReadOnlyByteBuffer().getLong() == 6, "a sum of two increments");
  }

  private void failures() {
    BigtableOuterClass.MutateRowRequest.Builder write =
        BigtableOuterClass.MutateRowRequest.newBuilder().setTableName(TABLE).setRowKey(ByteString.copyFromUtf8("x"));
    expect(Status.Code.INVALID_ARGUMENT, () -> data.mutateRow(write.build()));
    expect(
        Status.Code.NOT_FOUND,
        () -> data.mutateRow(write.addMutations(setCell(ByteString.EMPTY)).setTableName(TABLE + "x").build()));
    expect(
        Status.Code.DEADLINE_EXCEEDED,
        () -> data.withDeadlineAfter(-1, TimeUnit.SECONDS).readModifyWriteRow(
            BigtableOuterClass.ReadModifyWriteRowRequest.getDefaultInstance()));
  }

  public static void main(String[] args) throws InterruptedException {
    ManagedChannel channel = ManagedChannelBuilder.forTarget(args[0]).usePlaintext().build();
    try {
      SteledClient client = new SteledClient(channel);
      client.createTable();
      client.writeRows();
      int all = client.countRows(read().build());
      check(all == ROWS, "rows read: " + all);
      int limited = client.countRows(read().setRowsLimit(7).setReversed(true).build());
      check(limited == 7, "rows read with a limit: " + limited);
      client.cancelAStream();
      client.increment();
      client.failures();
    } finally {
      channel.shutdownNow().awaitTermination(10, TimeUnit.SECONDS);
    }
    System.out.println("all checks hold");
  }
}
